"""Double clicks and right clicks in the synthetic world."""

from __future__ import annotations

import pytest

from screensearch import Action, Element, Means, Observation, Outcome
from screensearch.domain.screen import Box
from screensearch.environments.synthetic import open_world
from screensearch.environments.synthetic.model import App, Branch, Deed, Pane, State, Variable, Widget
from screensearch.environments.synthetic.stage import Stage
from screensearch.errors import EnvironmentFailed


def clickable(observation: Observation) -> Element:
    """The last one: a click on it leads somewhere."""
    return [each for each in observation.elements if each.clickable and each.enabled][-1]


@pytest.mark.parametrize("argument", ["notepad?noise=0", "generated?states=200&noise=0"])
async def test_a_double_click_is_a_click_unless_the_application_says_otherwise(argument: str) -> None:
    world = open_world(argument, Means(screenshots=False))
    seen = []
    for template in ("focus_click@1", "double_click@1"):
        start = await world.reset(3)
        seen.append(await world.perform(Action(template, clickable(start.observation))))
    assert seen[0] == seen[1]
    assert seen[0].observation != start.observation


@pytest.mark.parametrize("argument", ["notepad?noise=0", "generated?states=200&noise=0"])
async def test_a_right_click_does_nothing_unless_the_application_says_otherwise(argument: str) -> None:
    world = open_world(argument, Means(screenshots=False))
    start = await world.reset(3)
    result = await world.perform(Action("right_click@1", clickable(start.observation)))
    assert (result.outcome, result.observation) == (Outcome.OK, start.observation)


@pytest.mark.parametrize("template", ["double_click@1", "right_click@1"])
async def test_a_click_on_what_is_not_there_misses(template: str) -> None:
    world = open_world("notepad?noise=0", Means(screenshots=False))
    await world.reset(3)
    gone = Element("button", "Gone", Box(1, 1, 2, 2), "notepad", clickable=True, handle="gone")
    assert (await world.perform(Action(template, gone))).outcome is Outcome.MISSED
    with pytest.raises(EnvironmentFailed, match=f"{template} needs an element"):
        await world.perform(Action(template))


def test_an_application_can_declare_what_a_double_and_a_right_click_do() -> None:
    def lead_to(value: str) -> object:
        return lambda state, argument: (Branch(1.0, {**state, "shown": value}),)

    def draw(view: State) -> tuple[Widget, ...]:
        return (
            Widget(
                "item",
                "listitem",
                str(view["shown"]),
                (1, 1, 5, 1),
                click=lead_to("selected"),  # type: ignore[arg-type]
                double_click=lead_to("opened"),  # type: ignore[arg-type]
                right_click=lead_to("menu"),  # type: ignore[arg-type]
            ),
        )

    app = App(
        "toy",
        "toy",
        (
            Variable("window", ("main",)),
            Variable("shown", ("nothing",)),
            Variable("display_mode", ("light",)),
            Variable("text_scale", (1.0,)),
        ),
        (Pane("main", "main", lambda state: "Toy", ("shown",), draw),),
    )
    stage = Stage(app)
    state: State = {"window": "main", "shown": "nothing", "display_mode": "light", "text_scale": 1.0}
    after = {
        template: stage.outcomes(state, Deed(template, "item"))[0].state["shown"]
        for template in ("focus_click", "double_click", "right_click")
    }
    assert after == {"focus_click": "selected", "double_click": "opened", "right_click": "menu"}
