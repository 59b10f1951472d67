/** The files with which operating systems start the gateway. */
import { product } from "../../contract/product.ts";

export interface ServiceProgram {
  /** Node, and its arguments up to those of the gateway. */
  readonly command: readonly string[];
  readonly configFile: string;
  readonly stateDirectory: string;
  /** Variables such as keys of models, one `NAME="value"` a line; it may be missing. */
  readonly environmentFile: string;
  /** Variables that the file of the service sets itself. */
  readonly variables: Readonly<Record<string, string>>;
}

export const serviceName = product.packageName;

/** Filters of system calls, which need no right of their own. Memory may be executed: the engine compiles code. */
const everywhere = [
  "UMask=0077",
  "NoNewPrivileges=yes",
  "LockPersonality=yes",
  "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK",
  "RestrictNamespaces=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "SystemCallArchitectures=native",
  "SystemCallFilter=@system-service",
  "SystemCallErrorNumber=EPERM",
];

const ofSystem = [
  "CapabilityBoundingSet=",
  "ProtectSystem=strict",
  "ProtectClock=yes",
  "ProtectControlGroups=yes",
  "ProtectHostname=yes",
  "ProtectKernelLogs=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelTunables=yes",
  "ProtectProc=invisible",
  "PrivateDevices=yes",
  "PrivateTmp=yes",
];

/** Longer than `gateway.drainSeconds`, so that running turns end. */
const stopSeconds = 45;

export interface SystemdOptions {
  /** Absent: a unit of the user who runs the command. */
  readonly system?: {
    /** The user who runs the gateway; absent: root. */
    readonly user?: string;
    /** Directories that the gateway writes to. */
    readonly writable: readonly string[];
    /** Something that the gateway needs is in a home directory. */
    readonly usesHome: boolean;
  };
}

export function systemdUnit(program: ServiceProgram, { system }: SystemdOptions): string {
  const run = (command: string) =>
    [...program.command, command, "--config", program.configFile].map(systemdWord).join(" ");
  // A user's manager knows no network target: the gateway tries its connections again until there is one.
  const network = system === undefined ? [] : ["After=network-online.target", "Wants=network-online.target"];
  const confined =
    system === undefined
      ? []
      : [
          ...(system.user === undefined ? [] : [`User=${system.user}`]),
          ...ofSystem,
          `ProtectHome=${system.usesHome ? "read-only" : "yes"}`,
          `ReadWritePaths=${system.writable.map(systemdWord).join(" ")}`,
        ];
  return [
    "[Unit]",
    "Description=Service gateway",
    ...network,
    "",
    "[Service]",
    `ExecStart=${run("gateway")}`,
    `ExecReload=${run("reload")}`,
    `EnvironmentFile=-${program.environmentFile.replaceAll("%", "%%")}`,
    ...Object.entries(program.variables).map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}`),
    "Restart=on-failure",
    "RestartSec=5",
    `TimeoutStopSec=${stopSeconds}`,
    ...confined,
    ...everywhere,
    "",
    "[Install]",
    `WantedBy=${system === undefined ? "default.target" : "multi-user.target"}`,
    "",
  ].join("\n");
}

/** A word of a command line of systemd, where `%` and `$` have a meaning. */
function systemdWord(word: string): string {
  const escaped = word.replaceAll("%", "%%").replaceAll("$", () => "$$");
  return /^[\w@%+=:,./$-]+$/.test(escaped) ? escaped : `"${escaped.replace(/["\\]/g, "\\$&")}"`;
}

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Node reads the file of variables itself where the operating system does not. */
const withVariables = ({ command: [node = "", ...rest], environmentFile }: ServiceProgram): readonly string[] => [
  node,
  `--env-file-if-exists=${environmentFile}`,
  ...rest,
];

export function launchdPlist(program: ServiceProgram, { logFile }: { readonly logFile: string }): string {
  const words = [...withVariables(program), "gateway", "--config", program.configFile];
  const texts = (values: readonly string[]) => values.map((value) => `    <string>${xml(value)}</string>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    "<dict>",
    `  <key>Label</key><string>${serviceName}</string>`,
    "  <key>ProgramArguments</key>",
    "  <array>",
    ...texts(words),
    "  </array>",
    "  <key>EnvironmentVariables</key>",
    "  <dict>",
    ...Object.entries(program.variables).map(
      ([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>`,
    ),
    "  </dict>",
    "  <key>RunAtLoad</key><true/>",
    "  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>",
    `  <key>ExitTimeOut</key><integer>${stopSeconds}</integer>`,
    "  <key>Umask</key><integer>63</integer>",
    `  <key>StandardErrorPath</key><string>${xml(logFile)}</string>`,
    "</dict>",
    "</plist>",
    "",
  ].join("\n");
}

/** A task that starts when the user logs in, and again a minute after it has failed. */
export function windowsTask(program: ServiceProgram, { user }: { readonly user: string }): string {
  const [node = "", ...rest] = withVariables(program);
  const words = [...rest, "gateway", "--config", program.configFile];
  const line = words.map((word) => `"${word.replaceAll('"', '\\"')}"`).join(" ");
  return [
    '<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    `  <Triggers><LogonTrigger><UserId>${xml(user)}</UserId></LogonTrigger></Triggers>`,
    `  <Principals><Principal id="Author"><UserId>${xml(user)}</UserId><LogonType>InteractiveToken</LogonType></Principal></Principals>`,
    "  <Settings>",
    "    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>",
    "    <RestartOnFailure><Interval>PT1M</Interval><Count>999</Count></RestartOnFailure>",
    "    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>",
    "    <RunOnlyIfNetworkAvailable>false</RunOnlyIfNetworkAvailable>",
    "  </Settings>",
    `  <Actions><Exec><Command>${xml(node)}</Command><Arguments>${xml(line)}</Arguments></Exec></Actions>`,
    "</Task>",
    "",
  ].join("\r\n");
}
