// A run's folder, opened in the browser: every file against the sha256 that the commit lists, the ledger, the report.

const hex = (buffer) => [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

export async function openRun(files, by, element, number) {
  const named = new Map(files.map((file) => [file.webkitRelativePath.split("/").slice(1).join("/") || file.name, file]));
  const commit = named.get("_COMMITTED.json");
  if (!commit) return "There is no _COMMITTED.json: this is not the folder of a finished run.";
  const record = JSON.parse(await commit.text()), wrong = [];
  for (const [path, entry] of Object.entries(record.files)) {
    const file = named.get(path);
    if (!file) wrong.push(`${path}: missing`);
    else if (hex(await crypto.subtle.digest("SHA-256", await file.arrayBuffer())) !== entry.sha256) wrong.push(`${path}: changed since the commit`);
  }
  for (const path of named.keys()) if (path !== "_COMMITTED.json" && !(path in record.files)) wrong.push(`${path}: not part of the commit`);
  const count = Object.keys(record.files).length;
  by("verdict").textContent = wrong.length ? `${wrong.length} things are not as they were committed` : `All ${count} files are as they were committed`;
  by("differences").replaceChildren(...wrong.map((line) => element("li", line)));
  if (named.has("ledger.json")) by("ledger").replaceChildren(table(JSON.parse(await named.get("ledger.json").text()), element, number));
  if (named.has("report.html")) by("report").srcdoc = await named.get("report.html").text();
  by("run-result").hidden = false;
  return "";
}

function table(ledger, element, number) {
  const rows = ledger.mechanisms ?? [], out = element("table"), head = element("tr");
  head.append(...["stage", "mechanism", "ε of a unit", "says", "not protected"].map((name) => element("th", name)));
  out.append(head, ...rows.map((entry) => {
    const row = element("tr"), unit = entry.sound?.unit;
    const cells = [entry.stage, entry.mechanism, unit === undefined ? "" : number(unit), entry.says, (entry.not_protected ?? []).join("; ")];
    row.append(...cells.map((text) => element("td", text)));
    return row;
  }));
  return out;
}
