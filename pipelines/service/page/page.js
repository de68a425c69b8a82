// The page: each tab asks the service what a caller could ask, and shows the answer. What is entered stays in memory.
import { decode, draw, startRecording } from "/page/sound.js";
import { openRun } from "/page/run.js";

const by = (id) => document.getElementById(id);
let token = "";

class Problem extends Error {}

const languages = new Intl.DisplayNames(["en"], { type: "language" });

async function ask(path, body) {
  const form = body instanceof FormData, headers = token ? { Authorization: `Bearer ${token}` } : {};
  if (!form) headers["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(path, { method: "POST", headers, body: form ? body : JSON.stringify(body) });
  } catch {
    throw new Problem("The service cannot be reached.");
  }
  const found = await answer.json();
  if (answer.ok) return found;
  by("token-form").hidden = answer.status !== 401;
  throw new Problem(`Refused (${found.error.code.replaceAll("_", " ")}). Allowed: ${found.error.allowed}`);
}

async function telling(place, act) {
  by(place).hidden = true;
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Problem)) console.error(error.name);
    by(place).textContent = error instanceof Problem ? error.message : "Something went wrong in this page.";
    by(place).hidden = false;
  }
}

const element = (name, text = "", classes = "") => Object.assign(document.createElement(name), { textContent: text, className: classes });
const colours = new Map();
const colour = (type) => {
  if (!colours.has(type)) colours.set(type, `t${colours.size % 8}`);
  return colours.get(type);
};
const number = (value) => (value === "inf" ? "∞" : value === 0 ? "0" : Number(value).toPrecision(3).replace(/\.?0+$/, ""));
const sentence = (lines) => (lines.length ? `Not protected: ${lines.join("; ")}.` : "");
const later = (wait, act) => {
  let timer;
  return () => { clearTimeout(timer); timer = setTimeout(act, wait); };
};

// Python counts code points, JavaScript counts halves of some: texts are cut as Python would.
function marked(place, text, stretches) {
  const signs = [...text];
  let at = 0;
  place.replaceChildren();
  for (const { begin, end, type, note } of stretches) {
    const mark = element("mark", signs.slice(begin, end).join(""), colour(type));
    if (note) mark.append(element("small", note));
    place.append(signs.slice(at, begin).join(""), mark);
    at = end;
  }
  place.append(signs.slice(at).join(""));
}

// Text

const STRATEGIES = {
  redact: "one marker for all", typed: "the type", named: "one fixed value", word: "word by word", full: "the whole entity",
  consistent: "one surrogate for each",
};
let asked = 0;

async function showText() {
  const mine = ++asked, text = by("text").value, p = Number(by("p").value), language = by("language").value || null;
  await telling("text-error", async () => {
    if (!text.trim()) { by("found").textContent = ""; by("types").replaceChildren(); by("strategies").replaceChildren(); return; }
    const names = Object.keys(STRATEGIES);
    // A strategy may know fewer languages than the others: it is left out, and says so.
    const answers = await Promise.all(names.map((strategy) => ask("/v1/replace", { text, strategy, p, language }).catch((problem) => problem)));
    if (mine !== asked) return;
    const known = answers.filter((answer) => !(answer instanceof Error));
    if (!known.length) throw answers[0];
    const entities = known[0].entities;
    by("read-as").textContent = `Read as ${languages.of(known[0].language)}.`;
    marked(by("found"), text, entities.map((e) => ({ ...e, note: `${e.type} ${e.score.toFixed(2)}` })));
    by("types").replaceChildren(...[...new Set(entities.map((e) => e.type))].map((type) => {
      const row = element("li");
      row.append(element("mark", type, colour(type)));
      return row;
    }));
    by("strategies").replaceChildren(...answers.map((answer, i) => {
      const card = element("article"), title = element("h3", names[i]), line = element("p");
      if (answer instanceof Error) {
        card.append(title, element("p", answer.message, "soft"));
        return card;
      }
      title.append(element("span", `ε = ${number(answer.epsilon)}`));
      marked(line, answer.text, answer.replaced.map(([begin, end]) => ({ begin, end, type: "replaced" })));
      card.append(title, element("p", STRATEGIES[names[i]], "soft"), line);
      return card;
    }));
    by("text-open").textContent = sentence(known.at(-1).not_protected);
  });
}

by("text").addEventListener("input", later(250, showText));
by("language").addEventListener("input", showText);
fetch("/openapi.json").then((answer) => answer.json()).then((api) => {
  const { language } = api.components.schemas.Detect.properties;
  by("language").append(...language.examples.map((code) => Object.assign(element("option", languages.of(code)), { value: code })));
});
by("p").addEventListener("input", () => { by("p-shown").textContent = Number(by("p").value).toFixed(2); });
by("p").addEventListener("input", later(200, showText));

// Speech

let recording = null, sound = null;

function use(blob, note) {
  sound = blob;
  by("anonymise").disabled = !blob;
  by("recorded").textContent = note;
}

by("file").addEventListener("change", () => use(by("file").files[0], ""));
by("record").addEventListener("click", () => telling("speech-error", async () => {
  const button = by("record");
  if (recording) {
    const stop = recording;
    recording = null;
    use(await stop(), "Recorded: not sent yet.");
  } else {
    try {
      recording = await startRecording();
    } catch {
      throw new Problem("The microphone cannot be used.");
    }
    by("recorded").textContent = "Recording …";
  }
  button.setAttribute("aria-pressed", recording ? "true" : "false");
  button.textContent = recording ? "Stop" : "Record";
}));

const asBlob = (base64) => new Blob([Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0))], { type: "audio/wav" });

function play(audio, blob) {
  if (audio.src) URL.revokeObjectURL(audio.src);
  audio.src = URL.createObjectURL(blob);
}

by("anonymise").addEventListener("click", () => telling("speech-error", async () => {
  const form = new FormData();
  form.append("audio", sound);
  form.append("text", by("transcript").value);
  by("speech-result").hidden = true;
  by("speech-busy").textContent = "Aligning, changing the voice, masking, listening again …";
  by("anonymise").disabled = true;
  try {
    await showSpeech(await ask("/v1/anonymise", form));
  } finally {
    by("speech-busy").textContent = "";
    by("anonymise").disabled = false;
  }
}));

async function showSpeech(answer) {
  const after = asBlob(answer.audio), masked = answer.words.filter((word) => word.masked);
  by("speech-result").hidden = false;
  if (!by("transcript").value.trim()) by("transcript").value = answer.transcript;
  play(by("play-before"), sound);
  play(by("play-after"), after);
  draw(by("before"), await decode(sound), masked.filter((word) => word.was_begin_s != null).map((word) => [word.was_begin_s, word.was_end_s]));
  draw(by("after"), await decode(after), masked.map((word) => [word.begin_s, word.end_s]));
  by("words").replaceChildren(...answer.words.flatMap((word) => {
    const mark = element("mark", word.masked ? "masked" : word.text, word.masked ? "gone" : "");
    mark.append(element("small", `${word.begin_s.toFixed(2)} s`));
    return [mark, " "];
  }));
  by("slices").replaceChildren(...answer.slices.map((slice, i) => {
    const row = element("li", slice.text), audio = element("audio");
    audio.controls = true;
    audio.setAttribute("aria-label", `Play slice ${i + 1}`);
    play(audio, asBlob(slice.audio));
    row.append(audio);
    return row;
  }));
  by("speech-open").textContent = sentence(answer.not_protected);
}

// Budget

function curve(place, points, at, labels) {
  const finite = points.filter(([, y]) => Number.isFinite(y)), [w, h, left, low] = [600, 240, 52, 34];
  const xs = points.map(([x]) => x), most = Math.max(...finite.map(([, y]) => y), 1e-6);
  const x = (value) => left + (value - Math.min(...xs)) / (Math.max(...xs) - Math.min(...xs) || 1) * (w - left - 16);
  const y = (value) => h - low - value / most * (h - low - 18);
  const path = finite.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  const dot = Number.isFinite(at[1]) ? `<circle cx="${x(at[0])}" cy="${y(at[1])}" r="5"/>` : "";
  place.innerHTML = `<svg class="curve" viewBox="0 0 ${w} ${h}" role="img" aria-label="${labels.title}">
    <line x1="${left}" y1="${h - low}" x2="${w - 16}" y2="${h - low}"/><line x1="${left}" y1="12" x2="${left}" y2="${h - low}"/>
    <text x="8" y="22">${number(most)}</text><text x="8" y="${h - low}">0</text><text x="8" y="${h / 2}">ε</text>
    <text x="${left}" y="${h - 12}">${Math.min(...xs)}</text><text x="${w - 16}" y="${h - 12}" text-anchor="end">${Math.max(...xs)} ${labels.x}</text>
    <path d="${path}"/>${dot}</svg>`;
}

const values = (form) => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, name === "sampling" ? value : Number(value)]));
const plain = (value) => (value === "inf" ? Infinity : value);
const marks = (form) => form.querySelectorAll("label:has(output)").forEach((label) => {
  label.querySelector("output").textContent = Number(label.querySelector("input").value).toFixed(2);
});

async function showRr() {
  const given = values(by("rr"));
  await telling("budget-error", async () => {
    const answer = await ask("/v1/budget/rr", given);
    by("rr-figure").textContent = `ε = ${number(answer.epsilon_unit)} for one unit; ${number(answer.epsilon)} for all, at δ = ${given.delta}; ` +
      `${(100 * answer.fraction_in_clear).toFixed(0)} % stay as they were`;
    const grid = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1];
    const points = await Promise.all(grid.map(async (p) => [p, plain((await ask("/v1/budget/rr", { ...given, p, units: 1 })).epsilon_unit)]));
    curve(by("rr-curve"), points, [given.p, plain(answer.epsilon_unit)], { title: "Epsilon of one unit by the probability of replacing", x: "p" });
  });
}

async function showEdp() {
  const given = values(by("edp"));
  await telling("budget-error", async () => {
    by("edp-figure").textContent = "…";
    const answer = await ask("/v1/budget/edp", given);
    by("edp-figure").textContent = `ε = ${number(answer.epsilon)} at δ = ${given.delta}${answer.sound ? "" : ": a claim, not a bound"}`;
    const shuffled = { ...given, sampling: "shuffle" }, grid = [0.3, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5];
    const points = await Promise.all(grid.map(async (z0) => [z0, plain((await ask("/v1/budget/edp", { ...shuffled, z0 })).epsilon)]));
    const own = given.sampling === "shuffle" ? answer : await ask("/v1/budget/edp", shuffled);
    curve(by("edp-curve"), points, [given.z0, plain(own.epsilon)], { title: "Epsilon by noise, for shuffled epochs", x: "z0, shuffled" });
  });
}

for (const [id, show] of [["rr", showRr], ["edp", showEdp]]) {
  const soon = later(250, show);
  by(id).addEventListener("input", () => { marks(by(id)); if (by(id).checkValidity()) soon(); });
  by(id).addEventListener("submit", (event) => event.preventDefault());
}

// A run

by("folder").addEventListener("change", () => telling("run-error", async () => {
  const problem = await openRun([...by("folder").files], by, element, number);
  if (problem) throw new Problem(problem);
}));
by("audited").addEventListener("change", async () => {
  by("audit").srcdoc = await by("audited").files[0].text();
  by("audit-result").hidden = false;
});

// Tabs: arrows move, as the pattern for tabs has it

const tabs = [...document.querySelectorAll("[role=tab]")];
const first = { "tab-budget": () => { showRr(); showEdp(); } };

function choose(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", other === tab ? "true" : "false");
    other.tabIndex = other === tab ? 0 : -1;
    by(other.getAttribute("aria-controls")).hidden = other !== tab;
  }
  first[tab.id]?.();
  delete first[tab.id];
}

tabs.forEach((tab, i) => {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(i + step + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  });
});

by("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  token = by("token").value.trim();
  by("token-form").hidden = true;
  showText();
});

showText();
