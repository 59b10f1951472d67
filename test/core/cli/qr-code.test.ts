/** QR codes in a terminal. */
import { describe, expect, test } from "vitest";
import { qrLines } from "../../../core/cli/output/qr-code.ts";
import { readScreen } from "../../support/read-screen.ts";

describe("a QR code in a terminal", () => {
  test.each(["1", "sgnl://linkdevice?uuid=4711&pub_key=Bd%2F", "ä".repeat(400), "x".repeat(1_000)])(
    "can be read: %s",
    (text) => {
      expect(readScreen(qrLines(text, (_, row) => row))).toBe(text);
    },
  );
});
