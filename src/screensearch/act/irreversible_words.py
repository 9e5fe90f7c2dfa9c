"""What irreversible and outward actions are called, in English, German, French and Spanish.

Verbose regular expressions on a normalised label (lower case), an idea to a line. A word that also has a
harmless use says in a look-ahead which: "send to back", "remove formatting", "overwrite mode".
"""

from __future__ import annotations

import re

_DISK = r"(?:disk|disc|drive|volume|partition|card|stick|device|medium|media|usb|floppy)s?"
_BIN = r"(?:the\s)?(?:trash|rubbish|waste\s?basket|(?:recycle\s)?bin|deleted\sitems|junk|spam)"
_BACK = r"(?:to\s(?:the\s)?)?(?:back(?:wards?|ground)?|behind|front|forwards?|bottom|top)"
_MARKUP = r"""
    (?:\w+\s)?(?:
        format(?:ting)? | styles? | (?:auto\s?)?filters? | sort(?:ing)? | (?:high)?light(?:ing|s)?
        | (?:hyper)?links? | (?:white\s?)?spaces? | (?:blank|empty)\slines? | indent(?:ation)? | underline
        | outline | (?:page\s|row\s|column\s|line\s)?breaks? | borders? | split | freeze | group(?:ing)?
        | tabs? | frames? | colou?rs? | bold | italics? | emphasis | accents?
    )
"""

_ENGLISH = rf"""
    delete(?!\skey\b)
    | erase | wipe | shred | purge
    | remove(?!\s(?:(?:all|the|direct|any|manual)\s)*{_MARKUP}\b)
    | (?:re)?format\s(?:\w+\s){{0,2}}{_DISK} | low[\s-]level\sformat
    | empty\s{_BIN} | (?:move|send)\s(?:\w+\s)?to\s{_BIN}
    | clear\s(?:(?:all|the|your|browsing|recent)\s)*
      (?:history|data|cache|cookies|recents?|documents|files|everything|logs?|queue|database|memory)
    | overwrite(?!\smode\b) | replace\s(?:existing|the\sfile|files?|anyway)
    | ^save(?:\s(?:all|now|changes|file|and\s\w+))?$
    | ^print(?:\s(?:now|all|it))?$
    | (?:re)?send(?!\s{_BACK}\b)(?!\skeys?\b)
    | submit | (?:re)?publish | tweet | broadcast
    | ^post(?:\s(?:now|it|comment|reply|message|update|a\s\w+))?$
    | upload | deploy | ^(?:force[\s-])?push(?:\s(?:to|changes|origin)\b.*)?$
    | purchase(?!\s(?:history|list|date)) | buy
    | check\s?out\snow | proceed\sto\scheck\s?out | ^check\s?out$
    | pay(?!\s(?:attention|slips?)) | donate | place\s(?:a\s)?bid | book\snow | (?:un)?subscribe
    | (?:place|submit|confirm|complete|send|cancel)\s(?:(?:your|my|the|an?)\s)?order | order\s(?:now|again)
    | ^transfer$ | transfer\s(?:\w+\s)?(?:money|funds|amount|now|ownership) | withdraw | wire\smoney
    | shut[\s-]?down | power[\s-]?off | halt
    | turn\soff\s(?:the\s)?(?:computer|device|system|machine)
    | restart(?!\s(?:\w+\s)?(?:numbering|count(?:er|ing)?|list|timer|game|animation|search|from|at)\b)
    | reboot
    | suspend | hibernate | ^sleep$ | lock\sscreen | switch\suser
    | (?:log|sign)[\s-]?(?:out|off)
    | kill | terminate | force[\s-](?:quit|stop|close) | end\s(?:task|process|session)
    | (?:un|re)?install(?!\s(?:date|guide|instructions)) | upgrade | update\s(?:now|all|system)
    | factory\s(?:reset|settings|defaults) | restore\s(?:to\s)?(?:the\s)?(?:defaults?|factory)
    | reset\s(?:all|everything|settings|password|account|device|(?:to\s)?(?:the\s)?(?:factory|defaults?))
    | revoke | (?:close|deactivate|cancel)\s(?:(?:my|your|this|the)\s)?(?:account|subscription|membership)
    | i\s(?:agree|accept) | (?:agree|accept)\s(?:and\s\w+|(?:the\s)?(?:terms|licen[cs]e|agreement))
"""

_GERMAN = r"""
    (?<!formatierung\s)(?<!filter\s)(?<!link\s)(?<!hyperlink\s)(?<!umbruch\s)
      (?:lösche[nt]? | entfernen? | vernichten)
    | papierkorb\sleeren | in\s(?:den\s)?papierkorb(?:\s\w+)?
    | (?:datenträger|laufwerk|festplatte|partition|karte|stick)\sformatieren
    | (?:ab|ver)?senden | abschicken | hochladen | veröffentlichen | einreichen
    | kaufen | bestellen | bezahlen | zahlen | überweisen | spenden | abonnieren
    | herunterfahren | ausschalten | neu\s?starten | abmelden | bildschirm\ssperren
    | überschreiben | ^speichern$ | ^drucken$ | (?:de|neu)?installieren | zurücksetzen | beenden\serzwingen
"""

_FRENCH = r"""
    supprimer(?!\s(?:la\s|le\s|les\s)?(?:mise\sen\sforme|formatage|filtres?|liens?))
    | effacer\s(?:tout|l.historique|les\sdonnées)
    | (?:vider|mettre\sà)\sla\scorbeille
    | formater\s(?:le\s|la\s)?(?:disque|volume|lecteur|partition|carte|clé)
    | envoyer(?!\s(?:à\sl.arrière|vers\sl.arrière|derrière|au\sfond|en\sarrière))
    | publier | soumettre | téléverser
    | acheter | payer | commander | passer\s(?:la\s)?commande | effectuer\sun\svirement | faire\sun\sdon
    | éteindre | arrêter\sl.ordinateur | redémarrer | mettre\sen\sveille
    | se\sdéconnecter | déconnexion | fermer\sla\ssession
    | écraser | ^enregistrer$ | ^imprimer$ | (?:dés|ré)?installer | réinitialiser
"""

_SPANISH = r"""
    (?:eliminar|borrar|suprimir)(?!\s(?:el\s|los\s|la\s)?(?:formato|filtros?|enlaces?|hiperenlaces?))
    | vaciar\s(?:la\s)?papelera | mover\sa\sla\spapelera
    | formatear\s(?:el\s|la\s)?(?:disco|volumen|unidad|partición|tarjeta)
    | enviar(?!\s(?:al\sfondo|atrás|hacia\satrás|detrás)) | publicar | subir\sarchivos?
    | comprar | pagar | realizar\s(?:el\s)?pedido | transferir | donar | suscribirse
    | apagar | reiniciar | cerrar\s(?:la\s)?sesión | suspender | hibernar | bloquear\spantalla
    | sobre?scribir | ^guardar$ | ^imprimir$ | (?:des|re)?instalar | restablecer
"""

IRREVERSIBLE = tuple(
    # Whole words only: not inside a longer word, a path, a file name or a hyphenated word.
    re.compile(rf"(?<![\w./\\-])(?:{words})(?![\w/\\-]|\.\w)", re.VERBOSE)
    for words in (_ENGLISH, _GERMAN, _FRENCH, _SPANISH)
)
"""Searched in a label."""

TAKEN_BACK = re.compile(
    r"""^(?:
        undo | don.?t | do\snot | never | not?
        | cancel(?!\s(?:\w+\s)?(?:order|subscription|account|membership))
        | (?:ask|confirm|warn)\sbefore | how\sto | about
        | rückgängig | nicht | annuler | ne\spas | deshacer
    )\b""",
    re.VERBOSE,
)
"""Labels that begin so take something back, or leave it."""

ASKED_ABOUT = re.compile(
    r"""
    delet | eras[ei] | wip(?:e|ing)\b | overwrit | permanent | irreversibl
    | (?:cannot|can.?t|can\snot)\sbe\s(?:undone|recovered) | will\sbe\s(?:lost|removed) | already\sexists
    | format\s | shut\sdown | restart\sthe | uninstall | purchase | charged
    | lösch | überschr | unwiderruflich | existiert\sbereits
    | supprim | écras | définitive | existe\s(?:déjà|ya) | elimin | borrar | sobre?scri
    """,
    re.VERBOSE,
)
"""Searched in what a dialog says before it offers to agree."""

AGREEING = re.compile(
    r"""(?:
        yes | ok | okay | continue | proceed | confirm | apply | replace | accept | agree | do\sit | go\sahead
        | ja | weiter | ersetzen | bestätigen | oui | continuer | remplacer | confirmer | valider
        | sí | si | aceptar | continuar | reemplazar | confirmar
    )(?:,?\s(?:all|to\sall|anyway|alle|tout|todo))?[.!]*""",
    re.VERBOSE,
)
"""The whole label of a button that agrees."""
