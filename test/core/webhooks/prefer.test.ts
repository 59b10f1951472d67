import { expect, test } from "vitest";
import { parsePrefer } from "../../../core/webhooks/endpoint/run-answer.ts";

const seconds = (prefer: string) => parsePrefer({ prefer });

test("the wait preference is parsed in any case, with any spacing, among other preferences", () => {
  expect(parsePrefer({})).toBeUndefined();
  for (const prefer of [
    "wait=10",
    "WAIT=10",
    " wait = 10 ",
    'wait="10"',
    "respond-async, wait=10",
    "wait=10; why=impatient, return=minimal",
  ]) {
    expect(seconds(prefer), prefer).toBe(10);
  }
  expect(seconds("wait=0")).toBe(0);
});

test("a client waits at most 60 seconds", () => {
  expect(seconds("wait=60")).toBe(60);
  expect(seconds("wait=61")).toBe(60);
  expect(seconds("wait=999999999")).toBe(60);
});

test("a value that is not a whole number of seconds is ignored", () => {
  for (const prefer of [
    "",
    "wait",
    "wait=",
    "wait=-1",
    "wait=1.5",
    "wait=ten",
    'wait="1',
    "wait=9999999999",
    "await=5",
    "wait-for=5",
    "waiting=5",
    ",,,",
    "=",
  ]) {
    expect(seconds(prefer), prefer).toBeUndefined();
  }
});

test("the first value of a repeated preference applies", () => {
  expect(seconds("wait=5, wait=9")).toBe(5);
  expect(seconds("wait=x, wait=9")).toBeUndefined();
});

test("a comma inside a quoted value does not separate preferences", () => {
  expect(seconds('note="a, wait=5", wait=7')).toBe(7);
  expect(seconds('note="a \\", wait=5", wait=7')).toBe(7);
});

test("a long header is parsed quickly", () => {
  expect(seconds(`${"a,".repeat(600)}wait=5`)).toBeUndefined();
  expect(seconds(`${'"'.repeat(900)}wait=5`)).toBeUndefined();
});
