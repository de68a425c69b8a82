"""English."""

from __future__ import annotations

from sottovoce.models.text.languages import Language

LANGUAGE = Language(
    names=("eng", "english"),
    classes={
        "z": "oh o zero nought naught",
        "d": "one two three four five six seven eight nine",
        "e": "ten eleven twelve",
        "t": "thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
        "y": "twenty thirty forty fifty sixty seventy eighty ninety",
        "h": "hundred",
        "k": "thousand million billion",
        "u": "double triple treble quadruple",
        "l": "b c d e f g h j k l m n p q r s t u v w x y zed zee",
        "a": "a",
        "i": "i",
        "n": "alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike oscar "
        "papa quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu",
        "r": "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth",
        "m": "january february april june july august september october november december "
        "jan feb apr jun jul aug sep sept oct nov dec",
        "j": "march may mar",  # also verbs: a month only next to a day or a year
        "w": "monday tuesday wednesday thursday friday saturday sunday "
        "mondays tuesdays wednesdays thursdays fridays saturdays sundays",
        "R": "today tomorrow yesterday tonight",
        "V": "next last this coming following",
        "W": "week weeks weekend month months year years day days fortnight",
        "Z": "morning afternoon evening night mornings afternoons evenings nights",
        "N": "noon midnight midday",
        "X": "am pm",  # "Y", below: the same in two letters, which may also be spelled letters ("s a m")
        "O": "clock oclock o'clock o’clock",
        "Q": "quarter",
        "F": "half",
        "M": "minutes minute",
        "U": "hour hours hr hrs mins secs seconds decade decades",
        "A": "ago old later hence",
        "B": "aged age turning turned",
        "S": "he she he's she's he’s she’s",
        "7": "brother sister son daughter mother father mum mom dad wife husband baby grandson "
        "granddaughter nephew niece boy girl twin",
        "b": "to til till before",
        "p": "past after",
        "g": "at by around about until from between",
        "f": "of",
        "E": "in since born year",
        "G": "on",
        "T": "the",
        "&": "and",
        "o": "for",
        "s": "as like",
        ",": "uh um er erm then dash hyphen minus space slash stroke comma again",
        "+": "plus",
        "=": "is it's its was number no num id code are my",
        "C": "account acct reference ref booking confirmation pin passcode password order policy claim case ticket member "
        "membership customer passport licence license zip zipcode postcode postal serial tracking flight "
        "invoice sort routing iban extension ext apartment apt unit room badge patient",
        "I": "ssn itin ein social insurance security nhs nino utr sin tfn tax medicare abn acn ird ppsn pps aadhaar aadhar "
        "taxpayer",
        "P": "phone mobile cell telephone tel call text dial fax whatsapp",
        "K": "card visa mastercard amex credit debit",
        "L": "spell spelled spelt spelling letters",
        "$": "dollar dollars pound pounds euro euros cent cents pence penny bucks quid yen rupee rupees franc francs usd "
        "gbp eur",
        "6": "tenner tenners fiver fivers",
    },
    values={},  # text_to_num counts them
    at="at",
    dot="dot|point|period",
    joins="dot|point|period|underscore|dash|hyphen|minus|plus",
    slash="slash|forward\\sslash",
    not_local="""email mail email's mail's
e id address adress is it's its it that's to me my at on the a an and or please send write
contact reach
message forward copy cc use with from for of so yes no okay ok i am was be about can could you as in into under by
log login sign register registered subscribe called named user username account""",
    titles="mr|mrs|ms|miss|mister|missus|doctor|dr|prof|professor|sir|madam",
    titles_find=False,
    regions=("US", "GB", "IE", "AU", "NZ", "IN", "ZA"),
    identifiers=(
        "national_ids:insurance_number",
        "national_ids:dashed_social_security",
        "in_.pan",
        "in_.epic",
        "in_.aadhaar",
        "ie.pps",
        "au.abn",
        "za.idnr",
        "my.nric",
    ),
    asked_for=(
        "us.ssn",
        "us.itin",
        "us.ein",
        "gb.nhs",
        "gb.utr",
        "ca.sin",
        "au.tfn",
        "au.acn",
        "national_ids:medicare",
        "nz.ird",
    ),
)
