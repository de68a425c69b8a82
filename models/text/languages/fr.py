"""French."""

from __future__ import annotations

from sottovoce.models.text.languages import SPELLING, Language, numbers

# From 70 to 79 and from 80 to 99 numbers are said of several, which are one word here (`_PLAIN` in `models/text/words.py`).
_TEENS = "dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf"
_COMPOUNDS = {
    f"{ten}-{teen}": value + at
    for ten, value in (("soixante", 70), ("quatre-vingt", 90))
    for at, teen in enumerate(_TEENS.split())
}
_NUMBERS, _VALUES = numbers(
    "zéro un deux trois quatre cinq six sept huit neuf",
    _TEENS,
    "vingt trente quarante cinquante soixante septante huitante nonante",
    _COMPOUNDS | {"quatre-vingt": 80, "quatre-vingts": 80, "soixante-et-onze": 71},
    {"une": 1, "octante": 80, "vingts": 20},
)
_VALUES |= {word.replace("-", " "): value for word, value in _VALUES.items() if "-" in word}

LANGUAGE = Language(
    names=("fra", "fre", "french", "francais"),
    classes={
        **_NUMBERS,
        "h": "cent cents",
        "k": "mille million millions",
        "u": "double triple",
        "l": "b c d e f g h j k l m n o p q r s t u v w x z",
        "n": SPELLING,
        "r": "premier première deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième",
        "m": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "w": "lundi mardi mercredi jeudi vendredi samedi dimanche lundis mardis mercredis jeudis "
        "vendredis samedis dimanches",
        "R": "aujourd'hui aujourd’hui demain hier après-demain avant-hier",
        "V": "chaque prochain prochaine prochains prochaines dernier dernière derniers dernières ce cet "
        "cette suivant "
        "suivante",
        "W": "semaine semaines week-end weekend mois an ans année années jour jours quinzaine",
        "Z": "matin après-midi soir nuit matinée soirée",
        "N": "midi minuit",
        "O": "heure heures",
        "Q": "quart",
        "F": "demie demi",
        "M": "minutes minute",
        "U": "secondes seconde",
        "b": "moins",
        "g": "à vers dès avant après",
        "f": "de du",
        "E": "depuis en né née",
        "T": "le la les",
        "&": "et",
        "o": "pour",
        "s": "comme",
        ",": "euh tiret virgule espace",
        "+": "plus",
        "C": "compte référence réservation confirmation code pin commande contrat police dossier billet "
        "membre client "
        "passeport permis "
        "sécurité sociale postal série suivi vol facture iban assurance chambre appartement",
        "P": "téléphone portable mobile numéro appelle appeler appelez fax tél",
        "K": "carte visa mastercard bancaire bleue",
        "L": "épelle épeler épelé",
        "$": "euro euros centime centimes dollar dollars franc francs livres",
    },
    values=_VALUES,
    at="arobase|arobas|at|chez",
    dot="point|dot",
    joins="point|dot|tiret\\sbas|tiret|underscore|trait\\sd'union|moins|plus",
    slash="slash|barre\\soblique",
    not_local="""e email mail courriel adresse est à au moi mon ma mes le la les un une et ou s'il te plaît envoie
envoyez écris écrire
contact contactez joindre sur par avec de du pour oui non je suis c'est vous tu ajoute ajouter ajoutez""",
    titles="monsieur|madame|mademoiselle|docteur|dr|professeur|maître|mme|mlle",
    dates="[WwmZ]V|f?w?T?(?:yd?|y&d|y?[det]|[12])m",
    times="HO(?:&[FQ]|bT?Q|&?(?:y&?d|[dety123]))?D?|N&F",
    clock="heures?|h",
    ordinal="er|e|ème",
    currencies="euros?|centimes?|dollars?|francs?|livres?",
    regions=("FR", "BE", "CH"),
    identifiers=("fr.nir", "fr.siren", "fr.siret", "fr.tva", "be.nn"),
    domains_and_words="de|es",
    introduces=r"je m['’ ]\s?appelle|mon nom (?:est|c['’]est)",
    hints=r"(?:m[aeo]n?|t[ao]n?|s[ao]n?|notre|votre) (?:\w+ )?(?:femme|mari|mère|père|fils|fille|frère|sœur|"
    r"soeur|cousine?|oncle|tante|chef"
    r"|collègue|amie?|neveu|nièce|voisine?|petit-fils|petite-fille|beau-frère|belle-sœur)|s['’]\s?appelle",
    kin="mamie|papi|papy|tonton|tata",
    not_names="est a dit veut peut va pas plus bien",
    street_before=r"(?<!quelle )rue|avenue|boulevard|impasse|quai|(?<!en )(?<!sur )place(?! [ldsmt]\b)",
    not_streets="où qui pour dans plus sur et à en libre disponible assise principale",
    loose="le les à pour de du des et d",
)
