"""Spanish."""

from __future__ import annotations

from sottovoce.models.text.languages import LETTERS, SPELLING, Language, numbers

_UNITS = "uno dos tres cuatro cinco seis siete ocho nueve"
_TWENTIES = "veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
_NUMBERS, _VALUES = numbers(
    f"cero {_UNITS}",
    "diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve",
    "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
    {word: 21 + at for at, word in enumerate(_TWENTIES.split())},
    {"un": 1, "una": 1, "dieciseis": 16, "veintidos": 22, "veintitres": 23, "veintiseis": 26, "veintiún": 21},
)  # fmt: skip

LANGUAGE = Language(
    names=("spa", "spanish", "espanol"),
    classes={
        **_NUMBERS,
        "h": "cien ciento",
        "k": "mil millón millones",
        "u": "doble triple",
        "l": LETTERS,
        "n": SPELLING,
        "r": "primero primer primera segundo tercero tercera cuarto quinto sexto séptimo octavo noveno décimo",
        "m": "enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre",
        "w": "lunes martes miércoles jueves viernes sábado domingo sábados domingos",
        "R": "hoy mañana ayer anoche anteayer",
        "V": "cada próximo próxima próximos próximas pasado pasada este esta siguiente",
        "W": "semana semanas mes meses año años día días quincena",
        "Z": "tarde noche madrugada mediodía",
        "N": "medianoche mediodía",
        "Q": "cuarto",
        "F": "media",
        "M": "minutos minuto",
        "U": "hora horas segundos segundo",
        "b": "menos",
        "g": "las",
        "f": "de del",
        "E": "desde en",
        "T": "el la los",
        "&": "y",
        "o": "para",
        "s": "como",
        ",": "eh em guion guión coma espacio",
        "+": "más",
        "C": "cuenta referencia reserva confirmación pin contraseña pedido póliza caso expediente "
        "billete socio cliente "
        "pasaporte dni nie "
        "carnet postal serie seguimiento vuelo factura iban seguro extensión habitación código",
        "P": "teléfono móvil celular número llama llamar marca fax",
        "K": "tarjeta visa mastercard crédito débito",
        "L": "deletrea deletrear deletreado",
        "$": "euro euros céntimo céntimos dólar dólares peso pesos libras",
    },
    values=_VALUES,
    at="arroba|at",
    dot="punto|dot",
    joins="punto|dot|guion\\sbajo|guión\\sbajo|barra\\sbaja|guion|guión|subrayado|menos|más",
    slash="barra|slash",
    not_local="""e email mail correo electrónico dirección es a al mí mi mis el la los un una y o por favor envía envíe
manda escribe contacto
contacta con de del para sí no yo soy en tu su añade añadir agrega""",
    titles="señor|señora|señorita|don|doña|doctor|doctora|dr|dra|profesor|profesora|sr|sra",
    dates="[WwmZ]V|T?(?:yd?|y&d|[det]|[12])fm(?:fT?(?:k.{0,4}|4))?|R?fT?Z|RGT?Z",
    times="(?<=g)H(?:&(?:[FQ]|yd?|[det])|bQ|b(?:yd?|[det]))?D?",
    clock="horas?|h",
    ordinal="º|ª|o|a",
    link="de",
    currencies="euros?|céntimos?|dólares|dólar|pesos?|libras?",
    regions=("ES", "MX", "AR", "CO", "CL"),
    identifiers=("es.dni", "es.nie", "es.cif", "es.nif", "mx.curp", "ar.cuit", "cl.rut", "co.nit"),
    domains_and_words="de|es|me|no",
    introduces=r"me llamo|mi nombre es|habla con|le atiende",
    hints=r"(?:mi|tu|su|nuestr[oa]) (?:\w+ )?(?:mujer|marido|madre|padre|hij[oa]|herman[oa]|niet[oa]|"
    r"prim[oa]|abuel[oa]|t[ií][oa]|jef[ea]"
    r"|compañer[oa]|amig[oa]|cuñad[oa]|sobrin[oa]|vecin[oa]|suegr[oa])|(?:se )?llama(?: a)?",
    kin="abuel[oa]|t[ií][oa]",
    not_names="cliente usted está es ha dice quiere puede tiene",
    street_before=r"(?<!qu[eé] )calle|avenida|plaza|paseo|carretera de|callejón",
    not_streets="donde que más cerca cercana principal y en con",
    loose="el los las de del al a para y",
)
