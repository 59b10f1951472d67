/** The gateway as a service of the operating system: what is written and called, and what a second call changes. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { createContext } from "../../../core/cli/context.ts";
import { createTerminal } from "../../../core/cli/output/terminal.ts";
import { installService, showService, uninstallService } from "../../../core/cli/service/run.ts";
import { launchdPlist, type ServiceProgram, systemdUnit, windowsTask } from "../../../core/cli/service/service-file.ts";
import { temporaryHome } from "./command.ts";

const program: ServiceProgram = {
  command: ["/usr/bin/node", "/opt/service gateway/main.js"],
  configFile: "/etc/service-gateway/config.jsonc",
  stateDirectory: "/var/lib/service-gateway",
  environmentFile: "/etc/service-gateway/environment",
  variables: { SERVICE_STATE_DIR: "/var/lib/100%" },
};

/** A user with a home and a `systemctl` that writes down how it is called, and answers as the real one. */
function openUser(config: object) {
  const home = temporaryHome();
  const bin = join(home, "bin");
  mkdirSync(bin);
  const calls = join(home, "calls");
  writeFileSync(
    join(bin, "systemctl"),
    `#!/bin/sh
echo "$*" >> ${calls}
case "$2" in
  enable) touch ${home}/enabled ;;
  start | restart) touch ${home}/active ;;
  disable) rm -f ${home}/enabled ${home}/active ;;
  is-enabled) test -e ${home}/enabled && echo enabled || { echo disabled; exit 1; } ;;
  is-active) test -e ${home}/active && echo active || { echo inactive; exit 3; } ;;
esac
`,
  );
  writeFileSync(join(bin, "loginctl"), "#!/bin/sh\necho no\n");
  for (const name of ["systemctl", "loginctl"]) chmodSync(join(bin, name), 0o755);
  mkdirSync(join(home, ".service"));
  const file = join(home, ".service", "config.jsonc");
  writeFileSync(file, JSON.stringify(config));
  const unset = Object.fromEntries(
    ["XDG_CONFIG_HOME", "SERVICE_CONFIG", "SERVICE_STATE_DIR"].map((name) => [name, ""]),
  );
  for (const [name, value] of Object.entries({ ...unset, HOME: home, PATH: `${bin}:${process.env.PATH}` }))
    vi.stubEnv(name, value === "" ? undefined : value);
  vi.spyOn(process, "getuid").mockReturnValue(1_000);
  vi.spyOn(process, "platform", "get").mockReturnValue("linux");
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  const lines: string[] = [];
  const stdout = new Writable({ write: (text, _, done) => done(void lines.push(String(text)) as undefined) });
  const terminal = createTerminal({ stdout: stdout as NodeJS.Process["stdout"], stderr: process.stderr });
  const context = createContext({ terminal, config: undefined, state: undefined, looks: false });
  return {
    ...{ home, context, file },
    unit: join(home, ".config", "systemd", "user", "service-gateway.service"),
    said: () => lines.splice(0).join(""),
    called: () => {
      const text = existsSync(calls) ? readFileSync(calls, "utf8") : "";
      rmSync(calls, { force: true });
      return text.split("\n").filter((line) => line !== "" && !line.includes(" is-"));
    },
  };
}

test("install writes a unit and starts it; a second call changes nothing; uninstall removes it", async () => {
  const { context, unit, said, called, file } = openUser({ gateway: { port: 0 } });
  expect(await installService(context, [], {})).toBe(0);
  expect(called()).toEqual([
    "--user daemon-reload",
    "--user enable service-gateway.service",
    "--user restart service-gateway.service",
  ]);
  expect(said()).toMatch(/is installed and runs \(systemd \(user\)\)[\s\S]*loginctl enable-linger /);
  expect(readFileSync(unit, "utf8")).toContain(` gateway --config ${file}\n`);
  const before = [readFileSync(unit, "utf8"), statSync(unit).mtimeMs];
  expect(await installService(context, [], {})).toBe(0);
  expect(said()).toContain("was installed already, and runs");
  expect(called()).not.toContain("--user daemon-reload");
  expect([readFileSync(unit, "utf8"), statSync(unit).mtimeMs]).toEqual(before);
  expect(await showService(context, [], {})).toBe(0);
  expect(said()).toMatch(/running[\s\S]*at boot +yes/);
  expect(await uninstallService(context, [], {})).toBe(0);
  expect([existsSync(unit), existsSync(file)]).toEqual([false, true]);
  expect(called()).toEqual(["--user disable --now service-gateway.service", "--user daemon-reload"]);
  expect(await showService(context, [], {})).toBe(1);
});

test("variables that the configuration needs are copied from the shell once; no value is shown", async () => {
  const key = "sk-key-of-the-shell-0123'456789";
  const { context, home, said } = openUser({
    gateway: { port: 0 },
    hooks: { enabled: true, token: { env: "HOOK_TOKEN" } },
    agents: { defaults: { model: "mistral/small" } },
  });
  vi.stubEnv("MISTRAL_API_KEY", key);
  vi.stubEnv("OTHER_KEY", "not-needed");
  await installService(context, [], {});
  const file = join(home, ".service", "environment");
  expect(readFileSync(file, "utf8").split("\n").slice(1)).toEqual([`MISTRAL_API_KEY="${key}"`, ""]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const text = said();
  expect(text).toContain("MISTRAL_API_KEY");
  expect(text).not.toContain(key);
  vi.stubEnv("HOOK_TOKEN", "the-hook-token-of-the-shell");
  await installService(context, [], {});
  expect(readFileSync(file, "utf8").split("\n").slice(1)).toEqual([
    `MISTRAL_API_KEY="${key}"`,
    "HOOK_TOKEN='the-hook-token-of-the-shell'",
    "",
  ]);
});

test("without a configuration nothing is installed", async () => {
  const { context, file, unit } = openUser({});
  rmSync(file);
  await expect(installService(context, [], {})).rejects.toMatchObject({ code: "config_missing" });
  expect(existsSync(unit)).toBe(false);
});

test.skipIf(!existsSync("/usr/bin/systemd-analyze"))("systemd accepts the units, of a user and of the system", () => {
  const here = { ...program, command: [process.execPath, "/opt/a folder/$main%.js"] };
  const writable = ["/var/lib/service-gateway", "/etc/a folder"];
  const units = {
    system: systemdUnit(here, { system: { user: "daemon", writable, usesHome: false } }),
    user: systemdUnit(here, {}),
  };
  const folder = temporaryHome();
  const file = join(folder, "service-gateway.service");
  for (const [kind, text] of Object.entries(units)) {
    writeFileSync(file, text);
    const scope = kind === "user" ? ["--user"] : [];
    const { stderr } = spawnSync("systemd-analyze", [...scope, "verify", file], { encoding: "utf8" });
    expect(stderr.split("\n").filter((line) => line.includes("service-gateway.service"))).toEqual([]);
  }
  expect(units.system).toContain('"/opt/a folder/$$main%%.js" gateway --config /etc/service-gateway/config.jsonc\n');
  expect(units.system).toContain("Environment=SERVICE_STATE_DIR=/var/lib/100%%\n");
  expect(units.system).toMatch(/^User=daemon$[\s\S]*^ProtectSystem=strict$[\s\S]*^ProtectHome=yes$/m);
  expect(units.user).not.toMatch(/ProtectSystem|network-online/);
});

test("the files of launchd and of Windows contain the whole command, with what XML would misread", () => {
  const odd = { ...program, configFile: '/home/a & "b"/config.jsonc' };
  const plist = launchdPlist(odd, { logFile: "/tmp/log" });
  expect(plist).toContain("<string>/home/a &amp; &quot;b&quot;/config.jsonc</string>");
  expect(plist).toContain("<string>--env-file-if-exists=/etc/service-gateway/environment</string>");
  const task = windowsTask(odd, { user: "ada" });
  expect(task).toContain("&quot;/opt/service gateway/main.js&quot; &quot;gateway&quot; &quot;--config&quot;");
});
