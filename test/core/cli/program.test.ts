import { describe, expect, test } from "vitest";
import { programCommand } from "../../../core/contract/command.ts";
import { run, temporaryHome } from "./command.ts";
import { run as runHere } from "./command-runner.ts";

describe("the command line", () => {
  test("lists the commands if none is given", async () => {
    const { code, out } = await run([], { home: temporaryHome() });
    expect(code).toBe(0);
    expect(out).toContain("pairing list|approve|deny|revoke");
    expect(out).toContain(`${programCommand} dev`);
  });

  test.each([
    [["gatewy"], "Did you mean gateway?"],
    [["wyh", "--help"], "Unknown command 'wyh'\n(Did you mean why?)"],
    [["hooks", "sned", "--help"], "Unknown command 'sned'\n(Did you mean send?)"],
    [["imap", "setup"], "Unknown command 'imap'\n(Did you mean webhooks imap?)"],
    [["send"], "Unknown command 'send'\n(Did you mean message send or hooks send?)"],
    [["start"], `Unknown command 'start': \`${programCommand} gateway\` starts the gateway`],
    [["configure"], `\`${programCommand} init\` asks for your bot and your model`],
    [["setup"], "there is no terminal to ask at: add --yes, and the answers as options"],
    [["pairing"], `Usage: ${programCommand} pairing`],
    [["pairing", "approve", "chat"], "Missing required argument 'code'"],
    [["logs", "--level", "loud"], "Allowed choices are trace, debug, info, warn, error"],
    [["logs", "--lines", "many"], '"many" is not a whole number'],
    [["dev", "--port", "99999"], "99999 is not a port: use a number from 0 to 65535"],
    [["status", "--jsn"], "Unknown option '--jsn'\n(Did you mean --json?)"],
    [
      ["status", "--nonsense"],
      "Unknown option '--nonsense'; the options of this command are --json, --help, --config, --state, --version\n",
    ],
    [
      ["logs", "--count", "5"],
      "Unknown option '--count'; the options of this command are --json, --follow, --lines, --since, --level, --help, ",
    ],
    [
      ["pairing", "--nonsense"],
      "Unknown option '--nonsense'; the options of this command are --help, --config, --state, --version\n",
    ],
  ])("exits with 2 on wrong usage and says what is right: %j", async (args, said) => {
    // The first one in a process of its own, as a shell sees it; the others in one that has loaded the program.
    const runOne = args.includes("gatewy") ? run : runHere;
    const { code, out, err } = await runOne(args, { home: temporaryHome() });
    expect(code).toBe(2);
    expect(out).toBe("");
    expect(err).toContain(said);
  });

  test.each([
    [["why", "--json"], 1, "state_missing"],
    [["pairing", "list", "--json"], 1, "state_missing"],
    [["logs", "--json"], 1, "log_missing"],
    [["config", "get", "gateway.prot", "--json"], 1, "config_path_unknown"],
    [["plugins", "check", "./absent", "--json"], 1, "plugin_not_found"],
    [["status", "--json", "--config", "absent.jsonc"], 1, "config_missing"],
    [["logs", "--lines", "many", "--json"], 2, "usage"],
    [["status", "--nonsense", "--json"], 2, "usage"],
    [["pairing", "approve", "chat", "--json"], 2, "usage"],
    [["satus", "--json"], 2, "usage"],
  ])("prints failures as JSON too if JSON is requested: %j", async (args, exit, name) => {
    const { code, out } = await runHere(args, { home: temporaryHome() });
    expect(code).toBe(exit);
    expect(JSON.parse(out)).toEqual({
      ok: false,
      code: name,
      error: expect.stringMatching(/^[A-Z"][^\n]*\.$/),
      hint: expect.stringMatching(/[.?]$/),
    });
  });

  test("tells an older Node in one sentence what is missing", async () => {
    const old =
      'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"20.20.2"}})';
    const { code, out, err } = await run(["status"], { home: temporaryHome(), nodeArgs: ["--import", old] });
    expect(code).toBe(1);
    expect(out).toBe("");
    expect(err).toMatch(/^error: Node 20\.20\.2 is too old: [^\n]+\.\n {7}Install [^\n]+\n$/);
  });

  test("shows the program's version and Node's version", async () => {
    const { code, out } = await run(["--version"], { home: temporaryHome() });
    expect(code).toBe(0);
    expect(out).toMatch(/^\d+\.\d+\.\d+ \(Node \d+\.\d+\.\d+\)\n$/);
  });
});
