import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { openAllowed, type Roots } from "../../../core/media/local-file.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "local-file-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text = "hello") => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return join(root, path);
};

const workspace = join(root, "work");
const stateDirectory = join(root, "state");
const roots: Roots = { workspace, stateDirectory, secret: [join(workspace, "config.jsonc")] };

put("work/report.pdf");
put("work/deep/er/a.txt");
put("work/.env");
put("work/.git/config");
put("work/id.key");
put("work/cert.PEM");
put("work/config.jsonc");
put("workshop/a.txt");
put("outside.txt");
put("state/gateway-token");
put("state/state.db");
put("state/state.db-wal");
put("state/gateway.json");
put("state/logs/gateway.log");
put("state/chat/default/stickers.json");
put("state/chat/default/media/abc.png");
put("state/chat/default/media/deep/abc.png");

async function verdict(path: string, of: Roots = roots): Promise<string> {
  try {
    const file = await openAllowed(path, of);
    await file.handle.close();
    return `${file.isInbound ? "kept" : "sent"} ${file.size}`;
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe("files that an agent may send", () => {
  test.each([
    ["report.pdf", "sent 5"],
    ["./deep/../deep/er/a.txt", "sent 5"],
    [join(workspace, "deep/er/a.txt"), "sent 5"],
    [join(stateDirectory, "chat/default/media/abc.png"), "kept 5"],
    ["../state/chat/default/media/abc.png", "kept 5"],
  ])("%s: %s", async (path, expected) => expect(await verdict(path)).toBe(expected));

  test.each([
    "../outside.txt",
    "deep/../../outside.txt",
    "/etc/passwd",
    "/proc/self/environ",
    "/dev/zero",
    "../workshop/a.txt",
    ".",
    "",
    "deep",
    ".env",
    ".git/config",
    "id.key",
    "cert.PEM",
    "config.jsonc",
    ...[
      "gateway-token",
      "state.db",
      "state.db-wal",
      "gateway.json",
      "logs/gateway.log",
      "chat/default/stickers.json",
    ].map((name) => `../state/${name}`),
    "../state/chat/default/media/deep/abc.png",
    "../state/chat/default/media",
  ])("%j is not allowed", async (path) => expect(await verdict(path)).toBe("media_refused"));

  test.each(["none.pdf", "a\0b", "deep/none/../a.txt", "x".repeat(5_000)])("%j is missing", async (path) =>
    expect(await verdict(path)).toBe("media_missing"),
  );

  test("a link is judged by its target", async () => {
    symlinkSync(join(root, "outside.txt"), join(workspace, "link.txt"));
    symlinkSync(root, join(workspace, "up"));
    symlinkSync(join(workspace, "report.pdf"), join(workspace, "inside.pdf"));
    symlinkSync(join(stateDirectory, "gateway-token"), join(stateDirectory, "chat/default/media/token.png"));
    expect(await verdict("link.txt")).toBe("media_refused");
    expect(await verdict("up/outside.txt")).toBe("media_refused");
    expect(await verdict("../state/chat/default/media/token.png")).toBe("media_refused");
    expect(await verdict("inside.pdf")).toBe("sent 5");
  });

  test("a file with a second hard link is not sent, because the other name may be outside", async () => {
    const outside = put("elsewhere.txt");
    linkSync(outside, join(workspace, "hard.txt"));
    linkSync(outside, join(stateDirectory, "chat/default/media/hard.png"));
    expect(await verdict("hard.txt")).toBe("media_refused");
    expect(await verdict("../state/chat/default/media/hard.png")).toBe("media_refused");
    await expect(openAllowed("hard.txt", roots)).rejects.toThrow(/hard link/);
    rmSync(outside);
    rmSync(join(stateDirectory, "chat/default/media/hard.png"));
    expect(await verdict("hard.txt")).toMatch(/^sent/);
  });

  test("a path that is not a regular file is refused without waiting", async () => {
    const socket = createServer().listen(join(workspace, "socket"));
    onTestFinished(() => void socket.close());
    await new Promise((resolve) => socket.once("listening", resolve));
    expect(await verdict("socket")).not.toMatch(/^(?:sent|kept)/);
  });

  test("without a workspace, only files received with messages are allowed", async () => {
    const { workspace: _none, ...bare } = roots;
    expect(await verdict(join(workspace, "report.pdf"), bare)).toBe("media_refused");
    expect(await verdict("gateway-token", bare)).toBe("media_refused");
    expect(await verdict("chat/default/media/abc.png", bare)).toBe("kept 5");
  });

  test("a workspace inside the state has its own files, and a state inside the workspace stays protected", async () => {
    put("state/workspace/a.txt");
    expect(await verdict("a.txt", { ...roots, workspace: join(stateDirectory, "workspace") })).toBe("sent 5");
    expect(await verdict("../state.db", { ...roots, workspace: join(stateDirectory, "workspace") })).toBe(
      "media_refused",
    );
    expect(await verdict("state/state.db", { ...roots, workspace: root })).toBe("media_refused");
    expect(await verdict("state/chat/default/media/abc.png", { ...roots, workspace: root })).toBe("kept 5");
    expect(await verdict("outside.txt", { ...roots, workspace: root })).toBe("sent 5");
    expect(await verdict("state.db", { ...roots, workspace: stateDirectory })).toBe("media_refused");
  });

  test("a refusal says what to do without showing a path", async () => {
    await expect(openAllowed("../outside.txt", roots)).rejects.toMatchObject({
      message:
        "outside.txt may not be sent: it is neither in the workspace nor among the files of messages; put " +
        "files to send into the agent's workspace",
    });
  });
});
