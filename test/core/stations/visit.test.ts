/** What a visit carries is for the gateway's own taps: plugins do not receive it. */
import { expect, test } from "vitest";
import type { TurnRecord } from "../../../core/contract/index.ts";
import { carried, createHooks, Visit } from "../../../core/stations/index.ts";

test("the gateway's own settled tap receives the visit of the event, and a plugin's does not", async () => {
  const hooks = createHooks({ onObserverError: (error) => expect.unreachable(String(error)) });
  const mark = carried<string>("mark");
  const seen: unknown[] = [];
  hooks.tap("core", "settled", (_record, visit) => void seen.push(visit.get(mark)));
  hooks.tap("lab", "settled", (...args: readonly unknown[]) => void seen.push(args[1]));
  const visit = new Visit();
  visit.set(mark, "of this event");
  await hooks.settled({ eventId: "a" } as TurnRecord, visit);
  expect(seen).toEqual(["of this event", undefined]);
});
