#include "server-mock/services/built_in/built_in_documents.hpp"

namespace ws::mock {
namespace {

constexpr BuiltInDocument documents[] = {
    {Location::project, "", "Start here", R"md(# Start here

This is the handbook of a small harbour crew. Three places to begin:

- [Tides and currents](<guides/Tides and currents.md>) - read it before you plan a crossing
- [Knots](guides/Knots.md) - five of them, no more
- [Crew list](<people/Crew list.md>) - who to ask

What happened lately stands in the [logbook](<logbook/2026-11-02.md>).

> Write short, link often, and say what you would do differently.
)md"},
    {Location::project, "guides", "Tides and currents", R"md(---
title: Tides and currents
tags: [navigation, safety]
reviewed: 2026-10-12
---
# Tides and currents

High water at the pier is **38 minutes** after the port table.

| State | Current at the mouth | Go? |
|---|---:|---|
| Slack | under 0.5 kn | yes |
| Mid flood | 2.1 kn | with engine |
| Mid ebb | 2.8 kn | no, wait |

## Rule of twelfths

In six hours the water rises by 1, 2, 3, 3, 2, 1 twelfths of the range. See the worked
example in the [crossing plan](<Crossing plan.md>).

## Who decides

The skipper of the day, named in the [Crew list](<../people/Crew list.md>).
)md"},
    {Location::project, "guides", "Crossing plan", R"md(# Crossing plan

1. Look up the tide: [Tides and currents](<Tides and currents.md>).
2. Leave a note with the harbour office.
3. Check the gear against [Knots](Knots.md) and the locker list.

```text
departure   06:40
range       3.6 m
one twelfth 0.3 m
```

Turn round when two of these are true: wind over 5 Bft, visibility under 1 nm, anybody unsure.
)md"},
    {Location::project, "guides", "Knots", R"md(# Knots

| Knot | For | Holds under shock |
|---|---|---|
| Bowline | a loop that never slips | yes |
| Cleat hitch | mooring | yes |
| Rolling hitch | pulling along a rope | yes |
| Reef knot | sails, nothing else | **no** |
| Figure eight | stopping a rope's end | yes |

Practise on the pier, not in the [ebb](<Tides and currents.md#tides-and-currents>).
)md"},
    {Location::project, "people", "Crew list", R"md(---
title: Crew list
owner: Mara
tags:
  - people
---
# Crew list

- **Mara Lindqvist** - skipper, keeps the [logbook](<../logbook/2026-11-02.md>)
- **Tomás Okafor** - engine, radio
- **@scout** - an agent that reads along and answers questions

New here? Begin at [Start here](<../Start here.md>).
)md"},
    {Location::project, "people", "Réunion du lundi", R"md(# Réunion du lundi

Présents : Mara, Tomás, François, 渡辺さん, Ольга.

- La bouée n° 7 est déplacée de 40 m vers l'est → mettre à jour [Tides and currents](<../guides/Tides and currents.md>)
- Café : c'est au tour de Tomás ☕
- Prochaine sortie : voir [2026-11-09](<../logbook/2026-11-09.md>)

日本語の要約：ブイ七番は東へ四十メートル移動。
)md"},
    {Location::project, "logbook", "2026-11-02", R"md(# 2 November 2026

Wind SW 4, sea slight. Out at 06:40 by the [Crossing plan](<../guides/Crossing plan.md>), back at 11:15.

- Engine stopped once off the mouth; fuel filter changed.
- Next entry: [2026-11-09](2026-11-09.md)
)md"},
    {Location::project, "logbook", "2026-11-09", R"md(# 9 November 2026

Fog until ten, so we stayed in and practised [knots](../guides/Knots.md). Previous entry:
[2026-11-02](2026-11-02.md).

- [x] Filter ordered
- [ ] Buoy 7 in the chart, see [Réunion du lundi](<../people/Réunion du lundi.md>)
)md"},
    {Location::personal, "", "Ideas for the winter", R"md(# Ideas for the winter

Only for me until it is worth sharing.

- A page on radio procedure beside [Tides and currents](<guides/Tides and currents.md>)
- Ask Tomás about the second anchor
)md"},
    {Location::second_workspace, "", "Garden notes", R"md(# Garden notes

- Garlic in by the end of November
- The path behind the shed floods when the harbour does; the [handbook](<Start here.md>) has the tide table
)md"},
};

}  // namespace

std::span<const BuiltInDocument> built_in_documents() { return documents; }

}  // namespace ws::mock
