/**
 * The bench of crash points can fail: it sees an answer that a broken store loses, and one that it repeats without a
 * doubt.
 */
import { expect, test } from "vitest";
import { embeddedPlace } from "../../bench/soak/place.ts";
import { points } from "../../bench/soak/points/aim.ts";
import { crashAtEach } from "../../bench/soak/points/crash.ts";
import { createRandom } from "../../bench/soak/random.ts";

const crash = (label: string, spoil?: "forget" | "unrecorded") =>
  crashAtEach({
    points: points.filter((point) => point.label === label),
    random: createRandom(3),
    name: "t",
    withinMs: 20_000,
    place: embeddedPlace,
    ...(spoil === undefined ? {} : { spoil }),
  });

test("a reply lost in a restart counts as lost, an unrecorded one as repeated; a sound store passes", async () => {
  const [lost, repeated, sound] = await Promise.all([
    crash("a message was asked for, not sent", "forget"),
    crash("after a part is recorded", "unrecorded"),
    crash("a message was sent, not answered"),
  ]);
  expect(lost.violations.join("\n")).toMatch(/part 1 of \d is lost/);
  expect(repeated.violations.join("\n")).toContain("part 1 is repeated, though its fate was known");
  expect(sound).toEqual({ violations: [], repeated: 1, stray: 0 });
});

test("a reply is sent once even after two processes died before calling the platform", async () => {
  const verdict = await crash("after the outbox is written, then after the repetition is marked");
  expect(verdict).toEqual({ violations: [], repeated: 0, stray: 0 });
});
