/** Tests transforms with the gateway's context and its rules for results, without a separate process. */
import { describe, expect, test } from "vitest";
import type { Json, Transform, TransformContext } from "../contract/index.ts";
import { freezeJson, renderAnswer } from "../transforms/index.ts";

/** One delivery and the expected result. */
export interface TransformCase {
  /** Default: its number. */
  readonly name?: string;
  readonly payload: Json;
  /** Names in any case; the transform receives them in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** Default `hook`. */
  readonly path?: string;
  /** ISO 8601; default `2026-01-02T03:04:05.678Z`. */
  readonly now?: string;
  /**
   * The whole result, compared with `toEqual`, so that matchers such as `expect.objectContaining` work; or the expected
   * error.
   */
  readonly expect: unknown | { readonly throws: string | RegExp };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function contextOf({
  payload,
  headers = {},
  query = {},
  path = "hook",
  now = "2026-01-02T03:04:05.678Z",
}: TransformCase): TransformContext {
  const names = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  const source = isObject(payload) && typeof payload.source === "string" ? payload.source : "";
  const context = {
    payload: structuredClone(payload),
    headers: Object.fromEntries(names),
    query: { ...query },
    path,
    source,
    now,
  };
  for (const map of [context.headers, context.query]) Object.setPrototypeOf(map, null);
  return freezeJson(context);
}

async function resultOf<P>(transform: Transform<P>, one: TransformCase): Promise<unknown> {
  const json = renderAnswer(await transform(contextOf(one) as unknown as TransformContext<P>));
  return json === undefined ? undefined : JSON.parse(json);
}

/** Tests a transform, inside a vitest file. */
export interface TransformTester {
  /**
   * Defines one test for each case, in a `describe` with the given name. The context is frozen and the result must be
   * plain JSON, as in the gateway. The sandbox's limits of time, memory and imports do not apply here: `service
   * transforms test` applies them.
   *
   * @example
   * transformTester.run("build", build, [
   *   { payload: { build: { state: "passed" } }, expect: null },
   *   {
   *     payload: { build: { state: "failed" } },
   *     headers: { "X-Event": "build" },
   *     expect: { message: "The build failed" },
   *   },
   *   { payload: {}, expect: { throws: /state/ } },
   * ]);
   */
  run<P = Json>(name: string, transform: Transform<P>, cases: readonly TransformCase[]): void;
}

/**
 * Tests a transform with deliveries and their expected results.
 *
 * @example
 * transformTester.run("build", build, [{ payload: { build: { state: "passed" } }, expect: null }]);
 */
export const transformTester: TransformTester = {
  run(name, transform, cases) {
    describe(name, () => {
      for (const [index, one] of cases.entries()) {
        test(one.name ?? `case ${index + 1}`, async () => {
          const wanted = one.expect;
          const throws =
            isObject(wanted) && Object.keys(wanted).join() === "throws"
              ? (wanted.throws as string | RegExp)
              : undefined;
          if (throws === undefined) expect(await resultOf(transform, one)).toEqual(wanted);
          else await expect(resultOf(transform, one)).rejects.toThrow(throws);
        });
      }
    });
  },
};
