/** What starts services on this machine, and how it is asked. */
import { execFile, spawnSync } from "node:child_process";
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { HostError, reasonOf } from "../../contract/errors.ts";
import {
  launchdPlist,
  type ServiceProgram,
  type SystemdOptions,
  serviceName,
  systemdUnit,
  windowsTask,
} from "./service-file.ts";

export interface ServiceState {
  readonly enabled: boolean;
  readonly running: boolean;
}

export interface ServiceManager {
  readonly kind: "systemd" | "systemd (user)" | "launchd" | "task";
  /** Where the file of the service belongs. */
  readonly file: string;
  readonly mode: number;
  render(program: ServiceProgram): string;
  /** Called after the file was written. `changed`: a running service is restarted. */
  start(options: { readonly changed: boolean }): Promise<void>;
  /** Called before the file is removed. */
  stop(): Promise<void>;
  /** Called after the file was removed. */
  forget(): Promise<void>;
  state(): Promise<ServiceState>;
  /** The command that shows what it printed; absent: only the gateway's own log does. */
  readonly logs?: (options: { readonly follow: boolean; readonly lines: number }) => readonly string[];
  /** What the operator has to know, in sentences. */
  notes(): Promise<readonly string[]>;
}

export interface ManagerOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Absent on Windows. */
  readonly uid: number | undefined;
  readonly home?: string;
  readonly stateDirectory: string;
  readonly system: NonNullable<SystemdOptions["system"]>;
}

const execute = promisify(execFile);
const commandMs = 60_000;

/** Runs a command of the operating system. Throws what it printed. */
async function call(env: ManagerOptions["env"], [program = "", ...args]: readonly string[]): Promise<string> {
  try {
    const { stdout } = await execute(program, args, { env: { ...env }, timeout: commandMs });
    return stdout.trim();
  } catch (thrown) {
    const { stderr = "" } = thrown as { readonly stderr?: string };
    const reason = stderr.trim() === "" ? reasonOf(thrown) : stderr.trim().split("\n").slice(-2).join(" ");
    throw new HostError(
      "service_refused",
      { what: [program, ...args].join(" "), reason: reason.replace(/\.$/, "") },
      { cause: thrown },
    );
  }
}

/** The answer of a command that fails to say no. */
const answers = (env: ManagerOptions["env"], words: readonly string[]): Promise<string> =>
  call(env, words).catch(() => "");

export function serviceManager(options: ManagerOptions): ServiceManager {
  if (options.platform === "darwin") return launchd(options);
  if (options.platform === "win32") return taskScheduler(options);
  if (options.platform !== "linux") throw new HostError("service_unsupported", { reason: options.platform });
  return systemd(options);
}

function systemd({ env, uid, home = homedir(), system }: ManagerOptions): ServiceManager {
  const isRoot = uid === 0;
  const control = (...words: readonly string[]) => ["systemctl", ...(isRoot ? [] : ["--user"]), ...words];
  const unit = `${serviceName}.service`;
  const folder = isRoot ? "/etc/systemd/system" : join(env.XDG_CONFIG_HOME ?? join(home, ".config"), "systemd", "user");
  return {
    kind: isRoot ? "systemd" : "systemd (user)",
    file: join(folder, unit),
    mode: 0o644,
    render: (program) => systemdUnit(program, isRoot ? { system } : {}),
    async start({ changed }) {
      if (changed) await call(env, control("daemon-reload"));
      await call(env, control("enable", unit));
      await call(env, control(changed ? "restart" : "start", unit));
    },
    stop: async () => void (await call(env, control("disable", "--now", unit))),
    forget: async () => void (await call(env, control("daemon-reload"))),
    async state() {
      const [enabled, active] = await Promise.all([
        answers(env, control("is-enabled", unit)),
        answers(env, control("is-active", unit)),
      ]);
      return { enabled: enabled === "enabled", running: active === "active" };
    },
    logs: ({ follow, lines }) => [
      ...["journalctl", ...(isRoot ? [] : ["--user"]), "--unit", unit, "--lines", String(lines), "--no-pager"],
      ...(follow ? ["--follow"] : []),
    ],
    async notes() {
      if (isRoot) return [];
      const name = userInfo().username;
      if ((await answers(env, ["loginctl", "show-user", name, "--property=Linger", "--value"])) === "yes") return [];
      return [
        "A service of a user runs while the user is logged in. To start it at boot and keep it after you log out: " +
          `\`loginctl enable-linger ${name}\`.`,
      ];
    },
  };
}

function launchd({ env, uid = 0, home = homedir(), stateDirectory }: ManagerOptions): ServiceManager {
  const domain = uid === 0 ? "system" : `gui/${uid}`;
  const target = `${domain}/${serviceName}`;
  const folder = uid === 0 ? "/Library/LaunchDaemons" : join(home, "Library", "LaunchAgents");
  const file = join(folder, `${serviceName}.plist`);
  const isLoaded = async () => (await answers(env, ["launchctl", "print", target])) !== "";
  return {
    kind: "launchd",
    file,
    mode: 0o644,
    render: (program) => launchdPlist(program, { logFile: join(stateDirectory, "service.log") }),
    async start({ changed }) {
      if (changed && (await isLoaded())) await call(env, ["launchctl", "bootout", target]);
      if (!(await isLoaded())) await call(env, ["launchctl", "bootstrap", domain, file]);
    },
    async stop() {
      if (await isLoaded()) await call(env, ["launchctl", "bootout", target]);
    },
    async forget() {},
    async state() {
      const printed = await answers(env, ["launchctl", "print", target]);
      return { enabled: printed !== "", running: /state = running/.test(printed) };
    },
    logs: ({ follow, lines }) => [
      ...["tail", "-n", String(lines), ...(follow ? ["-F"] : [])],
      join(stateDirectory, "service.log"),
    ],
    notes: async () => [],
  };
}

function taskScheduler({ env, stateDirectory }: ManagerOptions): ServiceManager {
  const task = (...words: readonly string[]) => ["schtasks", ...words, "/TN", serviceName];
  const file = join(stateDirectory, "service-task.xml");
  return {
    kind: "task",
    file,
    mode: 0o600,
    render: (program) => windowsTask(program, { user: userInfo().username }),
    async start({ changed }) {
      if (changed) await call(env, [...task("/Create"), "/XML", file, "/F"]);
      await call(env, task("/Run"));
    },
    async stop() {
      await answers(env, task("/End"));
      await call(env, [...task("/Delete"), "/F"]);
    },
    async forget() {},
    async state() {
      const printed = await answers(env, [...task("/Query"), "/FO", "LIST"]);
      return { enabled: printed !== "", running: /:\s*Running/.test(printed) };
    },
    notes: async () => ["The task starts when you log in."],
  };
}

/** Shows what a command prints until it ends. Returns its exit code. */
export function show(env: ManagerOptions["env"], [program = "", ...args]: readonly string[]): number {
  const { status, error } = spawnSync(program, args, { env: { ...env }, stdio: "inherit" });
  if (error !== undefined) throw new HostError("service_refused", { what: program, reason: reasonOf(error) });
  return status ?? 1;
}
