import fc from "fast-check";
import { expect, test } from "vitest";
import { createMemory } from "../../../plugins/botchat/intake/memory.ts";

test("a recent entry has its latest value, and a deleted one is absent", () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 0, max: 30 }), fc.constantFrom("set", "delete")), {
    maxLength: 200,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 10 }), (all, least) => {
      const memory = createMemory<number>(least);
      const model = new Map<string, number>();
      const recent: string[] = [];
      for (const [index, [key, step]] of all.entries()) {
        const name = String(key);
        if (step === "set") {
          memory.set(name, index);
          model.set(name, index);
          recent.push(name);
        } else {
          expect(memory.delete(name) || !recent.slice(-least).includes(name) || !model.has(name)).toBe(true);
          model.delete(name);
        }
        for (const each of new Set(recent.slice(-least))) expect(memory.get(each)).toBe(model.get(each));
      }
      const kept = Array.from({ length: 31 }, (_, key) => memory.get(String(key))).filter(
        (value) => value !== undefined,
      );
      expect(kept.length).toBeLessThanOrEqual(2 * least);
      // What was set last stands last, each once.
      const lately = [...new Set(recent.slice(-least).reverse())].filter((key) => model.has(key)).reverse();
      const newest = memory.newest(least).map(([key]) => key);
      expect(newest.slice(Math.max(0, newest.length - lately.length)).toSorted()).toEqual(lately.toSorted());
      expect(new Set(newest).size).toBe(newest.length);
    }),
  );
});
