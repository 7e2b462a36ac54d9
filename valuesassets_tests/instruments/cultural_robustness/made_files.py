"""Folders of questions and answers for tests: six questions of our own in three languages, two countries each."""

import gzip
import json

ASKED = {
    "eng": (
        "Where do you keep the bread at home, and why is it there?",
        "Which fruit do you buy in the winter months?",
        "How do you dry your shoes after a long walk in the rain?",
        "Who feeds the cat while you are away on holiday?",
        "When do you open the windows in the morning?",
        "What do you plant on the balcony in spring?",
    ),
    "deu": (
        "Wo bewahrst du zu Hause das Brot auf, und warum gerade dort?",
        "Welches Obst kaufst du in den Wintermonaten?",
        "Wie trocknest du deine Schuhe nach einem langen Weg im Regen?",
        "Wer füttert die Katze, während du im Urlaub bist?",
        "Wann öffnest du morgens die Fenster?",
        "Was pflanzt du im Frühling auf dem Balkon?",
    ),
    "ell": (
        "Πού φυλάς το ψωμί στο σπίτι, και γιατί εκεί;",
        "Ποια φρούτα αγοράζεις τους μήνες του χειμώνα;",
        "Πώς στεγνώνεις τα παπούτσια σου μετά από μεγάλο περίπατο στη βροχή;",
        "Ποιος ταΐζει τη γάτα όσο λείπεις σε διακοπές;",
        "Πότε ανοίγεις τα παράθυρα το πρωί;",
        "Τι φυτεύεις στο μπαλκόνι την άνοιξη;",
    ),
}
LIVING = {
    "eng": ("I live in Austria.", "I live in Greece."),
    "deu": ("Ich lebe in Österreich.", "Ich lebe in Griechenland."),
    "ell": ("Ζω στην Αυστρία.", "Ζω στην Ελλάδα."),
}
COUNTRIES = "anchor,country\n1,AT\n2,GR\n"


def question_rows(language):
    """By kind, the lines of a language's files."""
    unspecific = [{"id": str(number), "prompt": text} for number, text in enumerate(ASKED[language], 1)]
    specific = [
        {"id": f"{row['id']}-{anchor}", "prompt": f"{row['prompt']} {living}"}
        for row in unspecific
        for anchor, living in enumerate(LIVING[language], 1)
    ]
    return {"unspecific": unspecific, "specific": specific}


def all_rows(*languages):
    """By (code, kind), the lines of all files."""
    return {(language, kind): rows for language in languages or ASKED for kind, rows in question_rows(language).items()}


def write_lines(path, rows, packed=False):
    """Rows as JSON lines; texts as they stand."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    content = "".join(f"{line}\n" for line in lines).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    return path


def write_folder(folder, rows=None, packed=False, countries=COUNTRIES):
    """A folder of such files."""
    for (code, kind), lines in (rows or all_rows()).items():
        write_lines(folder / f"{code}_{kind}.jsonl{'.gz' if packed else ''}", lines, packed)
    if countries:
        (folder / "countries.csv").write_text(countries)
    return folder


def answer_rows(text="Das ist gut so, wie es ist.", **beside):
    """By (code, kind), an answer to each prompt; `beside` goes into each line."""
    return {key: [{"id": row["id"], "answer": text, **beside} for row in rows] for key, rows in all_rows().items()}
