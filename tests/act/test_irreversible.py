from __future__ import annotations

import dataclasses

import pytest

from screensearch.act.candidates import CandidateSettings, candidates
from screensearch.act.guard import guard
from screensearch.act.irreversible import Irreversible
from screensearch.domain.screen import Box, Element, Observation, Window
from screensearch.errors import SettingsError

WINDOW = Window("Files", "main", Box(0, 0, 300, 300), "files")
DIALOG = Window("Question", "dialog", Box(0, 0, 300, 300), "files")

DENIED = """
Delete|Delete…|&Delete|_Delete|Delete all|Permanently Delete|Erase Disc...|Wipe|Shred|Purge messages
Remove|Remove account|Remove from library|Empty Trash|Empty the Recycle Bin|Move to Trash|Send to Trash
Format disk|Format USB drive…|Reformat the partition|Clear History|Clear all data|Clear recent documents
Overwrite|Replace existing|Save|Save all|Print|Print now|Send|Send…|Resend|Send by e-mail…|Submit
Submit your order|Publish|Post|Post comment|Upload|Push to origin|Purchase|Buy now|Pay|Pay 12 €|Donate
Place order|Order now|Cancel my order|Transfer|Transfer money|Withdraw|Shut Down|Shutdown|Shut-down…
Power Off|Turn off the computer|Restart|Restart now|Reboot|Suspend|Hibernate|Log Out|Log out…|Sign out
Log Off|Kill|Force Quit|End process|Install|Uninstall|Upgrade|Factory reset|Reset to defaults
Restore defaults|Reset settings|Delete my account|Close account|Revoke|I agree|Accept and continue
Löschen|Datei löschen|Entfernen|Papierkorb leeren|Laufwerk formatieren|Senden|Jetzt kaufen|Bestellen
Herunterfahren|Neu starten|Neustarten|Abmelden|Überschreiben|Speichern|Deinstallieren
Supprimer|Vider la corbeille|Formater le disque|Envoyer|Acheter|Payer|Éteindre|Redémarrer|Se déconnecter
Écraser|Enregistrer|Eliminar|Borrar|Vaciar papelera|Formatear disco|Enviar|Comprar|Pagar|Apagar|Reiniciar
Cerrar sesión|Sobrescribir|Guardar|🗑 Delete
"""

ALLOWED = """
Open|New|Close|Cancel|Edit|View|Help|About|Format|Format cells…|Format menu|Formatting|Paragraph format
Remove formatting|Remove direct formatting|Remove all filters|Remove hyperlink|Remove trailing spaces
Remove page break|Send to back|Send backward|Send to background|Sender|Sent|Sort order|Order by|Order
Reading order|Bring to front|Deleted items|Show deleted files|Undo delete|Undelete|Don’t delete|Delete key
Ask before deleting|Ask before delete|Auto-delete|delete.txt|send-later.md|/home/joe/delete/me
Print…|Print preview|Printer|Save As…|Save a copy…|Saved searches|Autosave|Overwrite mode|Overwritten
Replace|Replace all|Find & Replace|Payments|Payment methods|Repay?|Buyer|Orders|Purchase history|Paying
Posts|Postcard|Power|Restart numbering|Restart numbering at…|Restarted|Shutter|Logo|Login|Sign in|Log in
Clear|Clear formatting|Clear selection|Reset zoom|Reset|Trash|Install date|Installed|Format painter
Transfers|Skill|Killer whales|Empty|Empty page|Next|OK|Apply|Yes|Buyers’ guide
Formatierung entfernen|Formatieren|Absender|Speichern unter…|Mise en forme|Supprimer la mise en forme
Envoyer à l’arrière|Enregistrer sous…|Enviar al fondo|Eliminar formato|Guardar como…|Formato
"""


def labels(table: str) -> list[str]:
    return [label for line in table.strip().splitlines() for label in line.split("|")]


def button(label: str, **changes: object) -> Element:
    element = Element("button", label, Box(30, 30, 10, 10), "files", clickable=True)
    return dataclasses.replace(element, **changes)  # type: ignore[arg-type]


def reasons(
    *elements: Element, window: Window = WINDOW, keys: tuple[str, ...] = (), patterns: tuple[str, ...] = ()
) -> list[str]:
    seen = Observation(elements, window)
    settings = CandidateSettings(
        keys=keys,
        scroll=False,
        wait=False,
        double_click_roles=("button",),
        right_click_roles=("button",),
    )
    proposed = candidates(seen, "files", settings)
    return [veto.reason for veto in guard(proposed, seen, [Irreversible(patterns)]).vetoed]


@pytest.mark.parametrize("label", labels(DENIED))
def test_what_cannot_be_taken_back_is_denied(label: str) -> None:
    told = reasons(button(label))
    assert len(told) == 3  # click, double click, right click: menus answer to every button
    assert all(each.startswith("irreversible: ") for each in told)


@pytest.mark.parametrize("label", labels(ALLOWED))
def test_what_only_sounds_like_it_is_allowed(label: str) -> None:
    assert reasons(button(label)) == []


def test_the_reason_names_the_rule_and_the_words() -> None:
    assert reasons(button("Format USB drive…"))[0] == (
        "irreversible: 'format usb drive' in the label 'format usb drive...'"
    )


@pytest.mark.parametrize("role", ["tabitem", "headeritem", "edit", "document"])
def test_a_click_that_only_selects_or_sets_the_caret_is_allowed(role: str) -> None:
    assert reasons(button("Delete", role=role)) == []


def test_typing_into_a_field_does_not_do_what_it_is_called() -> None:
    assert reasons(button("Send a message", role="combobox", clickable=False, editable=True)) == []


def test_a_long_text_in_a_list_is_content_but_on_a_button_it_is_a_label() -> None:
    text = "Delete " + "the quick brown fox " * 5
    assert reasons(button(text, role="listitem")) == []
    assert reasons(button(text)) != []


@pytest.mark.parametrize(
    ("key", "denied"),
    [
        ("Delete", True),
        ("shift+Delete", True),
        ("ctrl+Return", True),
        ("ctrl+s", True),
        ("super+l", True),
        ("Escape", False),
        ("Return", False),
        ("F10", False),
        ("ctrl+p", False),
        ("BackSpace", False),
    ],
)
def test_keys_that_do_such_things_are_denied(key: str, denied: bool) -> None:
    assert (reasons(keys=(key,)) != []) is denied


def test_return_does_not_press_a_button_that_may_not_be_clicked() -> None:
    focused = button("Delete", focused=True)
    assert reasons(focused, keys=("Return",))[-1].endswith("(the key Return may press it)")
    assert reasons(focused, keys=("space",))[-1].endswith("(the key space may press it)")
    assert len(reasons(button("Delete"), keys=("Return",))) == 3  # the clicks
    assert len(reasons(button("Delete"), keys=("Return",), window=DIALOG)) == 4  # it may be the default


@pytest.mark.parametrize("label", ["Yes", "OK", "Continue", "Replace", "Yes to all", "Ja", "Oui", "Sí"])
def test_agreeing_in_a_dialog_that_asks_about_it_is_denied(label: str) -> None:
    asks = Element(
        "text", "A file “a.txt” already exists. It will be overwritten.", Box(0, 0, 50, 9), "files"
    )
    told = reasons(asks, button(label), window=DIALOG)
    assert told[0] == f"irreversible: {label.lower()!r} agrees to what the dialog calls 'already exists'"
    assert reasons(asks, button(label)) == []
    assert reasons(asks, button("Cancel"), window=DIALOG) == []
    tells = dataclasses.replace(asks, text="The document has two pages.")
    assert reasons(tells, button(label), window=DIALOG) == []


def test_further_labels_can_be_given() -> None:
    assert reasons(button("Launch the rocket"), patterns=("launch",))[0] == (
        "irreversible: the label 'launch the rocket' matches 'launch'"
    )
    with pytest.raises(SettingsError, match=r"irreversible\.patterns\[0\]"):
        Irreversible(["("])
