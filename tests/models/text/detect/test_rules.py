"""The rules: one line per form, written and spoken, and nothing breaks them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sottovoce.models.errors import SettingsError
from sottovoce.models.text.detect.checks import iban_holds, luhn_holds
from sottovoce.models.text.detect.rules import TYPES, Rules

# The sensitive stretch stands in <angle brackets>, followed by its type.
FOUND = """
mail <john.smith+x@example.co.uk> now | EMAIL
write to <john dot smith at example dot com> please | EMAIL
my email is <j smith eighty four at yahoo dot co dot uk> | EMAIL
email me at <mary underscore jones at gmail dot com> | EMAIL
it is <john at gmail> | EMAIL
see <https://example.org/a?b=c> | URL
go to <www dot example dot org slash help> | URL
my site is <smith dot com> | URL
call <07744 123456> | PHONE
call <+44 20 7946 0958> | PHONE
call me on <(415) 555-2671> | PHONE
my number is <oh seven seven double four one two three four five six> | PHONE
my number is <four one five five five five two six seven one> | PHONE
my phone is <four one five uh five five five two six seven one> | PHONE
<plus four four twenty seventy nine forty six oh nine five eight> | PHONE
card <4111 1111 1111 1111> ok | CARD
my card number is <4111 1111 1111 1112> | CARD
my card is <four one one one one one one one one one one one one one one one> | CARD
<GB82 WEST 1234 5698 7654 32> | IBAN
<GB83 WEST 1234 5698 7654 32> | IBAN
<DE89370400440532013000> | IBAN
my account is <12345678> | CODE
reference <AB12345> please | CODE
account number <one two three> | CODE
<triple three nine nine one> | CODE
my name is spelled <s m i t h> | CODE
my account is <u s d> | CODE
<s as in sierra m as in mike i as in india> | CODE
booking reference <x k four seven> | CODE
<sierra mike india tango hotel> | CODE
at <10.20.30.40> | CODE
from <2001:db8:0:0:0:ff00:42:8329> | CODE
postcode <SW1A 1AA> | CODE
born <12/03/1980> | DATE
on <1980-03-12> | DATE
on <March 23rd, 1980> we | DATE
on <23 March> | DATE
<twenty third of march nineteen eighty> | DATE
on <the fifth of november> | DATE
<june the third two thousand and four> | DATE
on <the twenty third> | DATE
<next tuesday> works | DATE
see you <tomorrow morning> | DATE
Date: <12/03/1980> | DATE
it is <$12.75>, ok | AMOUNT
text <april> that i am late | PER
my sister <april> is here | PER
is <june> free | PER
<August> said no | PER
we fly in <april> | DATE
is <april> rainy | DATE
<april> will call you back | PER
will <april> drive us | PER
my name is <april> | PER
<april> will be cold | DATE
thanks <@ anna_b> for this | CODE
call me in <june> | DATE
<Will> said no | PER
tell <will> to come | PER
book <seven nights> from here | DATE
it was <three weeks ago> | DATE
we stay <a week later> | DATE
i am <forty two years old> | DATE
i have a <3 year old> | DATE
she is aged <nine> | DATE
it takes <two and a half hours> | DATE
post it and tag <@mika.runs> | CODE
write to <anna @example.com> | EMAIL
i am on instagram as <salty sea dog> | CODE
when is <mother's day> | DATE
see you <tmrw> | DATE
wait for <three quarters of an hour> | TIME
it takes <an hour and a half> | TIME
i stay for the <next three days> | DATE
<the second sunday of june> | DATE
<the first two weeks of september> | DATE
she's <eleven> | DATE
my son is <nine and a half> | DATE
he just turned <forty> | DATE
i owe her <a tenner> | AMOUNT
did <will> get home | PER
ask <grace> about it | PER
my brother <drew> | PER
follow me at <@ravi.codes> | CODE
my email's <lena underscore b at gmx dot net> | EMAIL
send it to <office at saint anne's dot org> | EMAIL
log in as <lucy at example dot com> | EMAIL
my handle is <cold underscore brew> | CODE
my handle is <cold brew> | CODE
my user name on twitter is <sunny days> and it works | CODE
event at <one p m> in town | TIME
follow <@cold_brew> now | CODE
wake me at <6:30 pm> | TIME
wake me at <6pm> | TIME
wake me at <18:45> | TIME
wake me at <six p m> | TIME
at <quarter past six> | TIME
<half past seven pm> | TIME
at <ten to five> | TIME
at <six thirty> | TIME
at <seven o'clock> | TIME
<nine in the morning> | TIME
at <six> on | TIME
on <the 8 th of August> please | DATE
on <Tue , 04 Sep 2018> | DATE
<the day after tomorrow> | DATE
during <1971> they | DATE
the last four are <4545> | CODE
policy number is <plc 748596231> | CODE
fax <( 020 ) 7946 0958> | PHONE
desk <+ 1 - 415 - 555 - 2671 x769> | PHONE
see <http : / / PoolVendor . be> | URL
my email is <jones 11 gmailcom> | EMAIL
pay <$25.50> | AMOUNT
pay <300 euros> | AMOUNT
<twenty five dollars and fifty cents> | AMOUNT
<a hundred pounds> | AMOUNT
"""
CASES = [line.rsplit(" | ", 1) for line in FOUND.strip().splitlines()]
LEFT_ALONE = [
    "my n h s record",
    "change it from 7 to 9 people",
    "my son drew a horse",
    "what did will power do",
    "he is one of us and left",
    "this 61 is a bus",
    "i am going to the store",
    "may i march in front",
    "one of the best",
    "play some music by u two",
    "what is the rate of u s d to g. b. p.",
    "how much is ten u. s. d in a g. b. p",
    "add two bananas and a melon",
    "what is the second one",
    "a table for four please",
    "my user name is not working",
    "the handle is broken but the door on the left side still opens",
    "turn it up to eleven",
    "my travel expense is 36 food expense is 30",
    "flight 67 food 42 and hotel 50",
    "",
    "hello",
]


@pytest.mark.parametrize(("marked", "type_"), CASES, ids=[f"{type_}-{i}" for i, (_, type_) in enumerate(CASES)])
def test_the_form_is_found_exactly(marked, type_):
    begin, end = marked.index("<"), marked.rindex(">") - 1
    text = marked.replace("<", "").replace(">", "")
    assert [(s.begin, s.end, s.type) for s in Rules().detect([text])[0]] == [(begin, end, type_)]


@pytest.mark.parametrize("marked", [case[0] for case in CASES if case[1] != "IBAN"])
def test_case_does_not_matter(marked):
    text = marked.replace("<", "").replace(">", "")
    found = [[(s.begin, s.end) for s in spans] for spans in Rules().detect([text, text.upper(), text.lower()])]
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_plain_talk_is_left_alone(text):
    assert Rules().detect([text]) == [[]]


@given(st.text(max_size=200))
def test_any_text_gives_sorted_disjoint_spans_inside_it(text):
    at = 0
    for span in Rules().detect([text])[0]:
        assert at <= span.begin < span.end <= len(text) and span.type in TYPES
        at = span.end


TRIGGERS = (
    "oh one twenty double third march six pm at dot com @ 07744 12/03 a s m i t h $ 5 k . - ( + http:// half past "
    "quarter to pounds account number is 😀 é e\u0301 \u202e مرحبا ١٢٣٤٥٦ 中文 \x00"
)


@given(st.lists(st.sampled_from(TRIGGERS.split()), max_size=40).map(" ".join))
def test_any_mix_of_triggers_gives_sorted_disjoint_spans(text):
    at = 0
    for span in Rules().detect([text])[0]:
        assert at <= span.begin < span.end <= len(text)
        at = span.end


@pytest.mark.parametrize(
    "text",
    [
        "word " * 10_000,
        "one " * 10_000,
        "a dot " * 5_000,
        "a at b dot " * 3_000,
        "x" * 100_000,
        "(" * 100_000,
        "1,1." * 20_000,
        "a-1" * 20_000,
        "@" * 50_000,
        "a." * 50_000,
        "s " * 10_000,
        "handle is " * 10_000,
        "1/" * 50_000,
        "😀" * 10_000,
    ],
)
def test_huge_texts_come_back(text):
    """A pattern that backtracks would keep this test for minutes."""
    assert all(0 <= span.begin < span.end <= len(text) for span in Rules().detect([text])[0])


@pytest.mark.parametrize("half", ["p m", "p.m.", "p. m.", "a . m ."])
def test_the_half_of_a_day_is_no_host(half):
    """ ".in" is a domain: "at one p. m. in" was an address, with the words before it."""
    text = f"add an event at one {half} in leeds"
    assert all(span.type != "EMAIL" for span in Rules().detect([text])[0])


def test_numbers_in_other_scripts_are_numbers():
    text = "رقمي ٠٧٧٤٤١٢٣٤٥٦"
    assert [text[s.begin : s.end] for s in Rules().detect([text])[0]] == ["٠٧٧٤٤١٢٣٤٥٦"]


@pytest.mark.parametrize(
    ("figures", "holds"), [("4111111111111111", True), ("4111111111111112", False), ("79927398713", True)]
)
def test_luhn(figures, holds):
    assert luhn_holds(figures) is holds


@pytest.mark.parametrize(("iban", "holds"), [("GB82WEST12345698765432", True), ("GB83WEST12345698765432", False)])
def test_iban_check(iban, holds):
    assert iban_holds(iban) is holds


def test_types_narrow_what_is_found():
    assert [s.type for s in Rules(types=("DATE",)).detect(["monday at six pm"])[0]] == ["DATE"]


def test_unknown_types_are_settings_errors():
    with pytest.raises(SettingsError):
        Rules(types=("NAME",))
