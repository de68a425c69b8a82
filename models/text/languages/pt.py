"""Portuguese."""

from __future__ import annotations

from sottovoce.models.text.languages import LETTERS, SPELLING, Language, numbers

_NUMBERS, _VALUES = numbers(
    "zero um dois três quatro cinco seis sete oito nove",
    "dez onze doze treze catorze quinze dezasseis dezassete dezoito dezanove",
    "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
    None,
    {"uma": 1, "duas": 2, "dezesseis": 16, "dezessete": 17, "dezenove": 19, "quatorze": 14, "meia": 6},
)

LANGUAGE = Language(
    names=("por", "portuguese", "portugues"),
    classes={
        **_NUMBERS | {"d": _NUMBERS["d"].replace(" meia", "")},
        "h": "cem cento",
        "k": "mil milhão milhões",
        "u": "duplo dobro",
        "l": LETTERS,
        "n": SPELLING,
        "r": "primeiro primeira segundo terceiro quarto sétimo oitavo nono décimo",
        "m": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "w": "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira segunda terça quarta quinta sexta "
        "sábado domingo "
        "sábados domingos",
        "J": "feira",  # of a weekday in two words
        "R": "hoje amanhã ontem anteontem",
        "V": "cada próximo próxima próximos próximas passado passada este esta deste desta neste nesta seguinte",
        "W": "semana semanas mês meses ano anos dia dias quinzena",
        "Z": "manhã tarde noite madrugada",
        "N": "meio-dia meia-noite",
        "Q": "quarto",
        "F": "meia",
        "M": "minutos minuto",
        "U": "hora horas segundos",
        "b": "menos",
        "g": "às até pelas",
        "f": "de do da",
        "E": "desde em",
        "T": "o a os",
        "&": "e",
        "o": "para",
        "s": "como",
        ",": "hum hífen traço vírgula espaço",
        "+": "mais",
        "C": "conta referência reserva confirmação pin senha encomenda apólice caso processo bilhete sócio "
        "cliente passaporte "
        "cidadão carta contribuinte nif cpf postal série voo fatura iban seguro extensão quarto código",
        "P": "telefone telemóvel celular número liga ligar marca fax",
        "K": "cartão visa mastercard crédito débito",
        "L": "soletra soletrar soletrado",
        "$": "euro euros cêntimo cêntimos dólar dólares real reais libras",
    },
    values=_VALUES,
    at="arroba|at",
    dot="ponto|dot",
    joins="ponto|dot|underscore|traço\\sbaixo|sublinhado|hífen|traço|menos|mais",
    slash="barra|slash",
    not_local="""e email mail correio eletrónico endereço é a ao mim meu minha o os um uma ou por favor envia envie manda
escreve contacto
contacta com de do para sim não eu sou em teu seu adiciona adicionar""",
    titles="senhor|senhora|dona|doutor|doutora|dr|dra|professor|professora|sr|sra|engenheiro",
    dates="wJV?|[WwmZ]V|T?(?:yd?|y&d|[det]|[12])fm(?:f(?:k.{0,4}|4))?|RfZ|RZ",
    times="(?<=g)HU?(?:&(?:F|T?Q|yd?|[det]))?D?",
    clock="horas?|h",
    ordinal="º|ª|o|a",
    link="de",
    currencies="euros?|cêntimos?|dólares|dólar|reais|real|libras?",
    regions=("PT", "BR"),
    identifiers=("pt.nif", "pt.cc", "br.cpf", "br.cnpj"),
    domains_and_words="de|no|me",
    introduces=r"(?:eu )?chamo[- ]me|o meu nome é|me chamo",
    hints=r"(?:meu|minha|teu|tua|seu|sua|nosso|nossa) (?:\w+ )?(?:mulher|marido|mãe|pai|filh[oa]|irmão|irmã|"
    r"net[oa]|prim[oa]|av[ôó]|ti[oa]|chefe"
    r"|colega|amig[oa]|cunhad[oa]|sobrinh[oa]|vizinh[oa])|chama[- ]se(?: [oa])?",
    kin="av[ôó]|ti[oa]",
    not_names="está é foi tem diz quer pode não",
    street_before=r"(?<!que )rua|avenida|praça|largo|travessa|estrada|alameda",
    not_streets="alimentação onde que mais principal e em com para",
    loose="às as das à da do no na ao para de o a os dos e",
)
