import { describe } from "vitest";
import { definePreset } from "../../../core/sdk/contract.ts";
import { presetTester } from "../../../core/testkit/index.ts";
import mail from "../../../plugins/mail/index.ts";

const door = definePreset({
  id: "door",
  version: "1.0.0",
  host: "^0.2.0",
  path: "door",
  mappings: [
    {
      match: { headers: { "X-Kind": "bell" } },
      action: "wake",
      wakeMode: "next-heartbeat",
      textTemplate: "It rang at {{ now }}, {{ query.side }}",
    },
    { body: "form", messageTemplate: "{{ who }} came in" },
  ],
});

describe("the preset tester", () => {
  presetTester.run(door, [
    {
      name: "a wake by a header",
      payload: {},
      headers: { "x-kind": "bell" },
      query: { side: "left" },
      expect: [{ action: "wake", mode: "next-heartbeat", text: "It rang at 2026-01-02T03:04:05.678Z, left" }],
    },
    {
      name: "a form",
      payload: "who=Ada",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      expect: [{ action: "agent", message: "Ada came in", name: "Hook", sessionKey: "hook:test-1" }],
    },
    {
      name: "a body of another kind",
      payload: {},
      headers: { "content-type": "text/plain" },
      expect: { code: "unsupported_media_type" },
    },
    { name: "another path", path: "window", payload: {}, expect: { code: "not_found" } },
    {
      name: "a blank message",
      payload: "",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      expect: [{ message: " came in" }],
    },
  ]);

  const body = { from: "Ada", subject: "Minutes", snippet: "s", body: "b" };
  presetTester.run(mail, [
    { name: "an empty batch", payload: { messages: [] }, expect: [] },
    {
      name: "two mails, one without an id",
      payload: { messages: [{ id: "1", ...body }, body] },
      expect: [
        { name: "Gmail", sessionKey: "hook:gmail:1", message: "New mail from Ada\nSubject: Minutes\n\ns\n\nb" },
        { name: "Gmail", sessionKey: "hook:test-1" },
      ],
    },
    { name: "no list", payload: {}, expect: { code: "invalid_payload" } },
    { name: "no JSON", payload: "{", expect: { code: "invalid_json" } },
  ]);
});
