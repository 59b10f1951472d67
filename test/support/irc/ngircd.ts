/** A real IRC server, ngIRCd, in a directory of its own; `hasNgircd` says whether it is installed. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, isOpen } from "../ports.ts";

const file = ["/usr/sbin/ngircd", "/usr/local/sbin/ngircd"].find((path) => existsSync(path));

export const hasNgircd: boolean = file !== undefined;

export interface Ngircd {
  readonly port: number;
  /** With TLS, when a certificate was given. */
  readonly tlsPort: number;
  /** Ends it without a word to anyone, as a power cut does. */
  kill(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Starts it. `password` is that of the server (PASS). */
export async function startNgircd({
  password,
  tls,
}: {
  readonly password?: string;
  readonly tls?: { readonly cert: string; readonly key: string };
} = {}): Promise<Ngircd> {
  const directory = mkdtempSync(join(tmpdir(), "ngircd-"));
  const [port, tlsPort] = [await freePort(), await freePort()];
  const config = join(directory, "ngircd.conf");
  const secure = tls === undefined ? "" : `[SSL]\nCertFile = ${tls.cert}\nKeyFile = ${tls.key}\nPorts = ${tlsPort}\n`;
  const isRoot = process.getuid?.() === 0;
  const lines = [
    "[Global]",
    "Name = irc.test",
    "Info = Test",
    "Listen = 127.0.0.1",
    `Ports = ${port}`,
    ...(isRoot ? ["ServerUID = nobody", "ServerGID = nogroup"] : []),
    ...(password === undefined ? [] : [`Password = ${password}`]),
    "[Limits]",
    "MaxConnectionsIP = 0",
    "MaxPenaltyTime = 0",
    "MaxNickLength = 30",
    "MaxJoins = 20",
    "PingTimeout = 20",
    "[Options]",
    "DNS = no",
    "Ident = no",
    "PAM = no",
    secure,
  ];
  writeFileSync(config, lines.join("\n"));
  let child: ChildProcess | undefined;
  const server: Ngircd = {
    port,
    tlsPort,
    async start() {
      child = spawn(file ?? "ngircd", ["-n", "-f", config], { stdio: "ignore" });
      for (let tries = 0; !(await isOpen(port)); tries += 1) {
        if (tries > 500 || child.exitCode !== null) throw new Error("ngIRCd does not start");
        await sleep(20);
      }
    },
    async kill() {
      const ended = child;
      if (ended === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
      const gone = new Promise((resolve) => ended.once("exit", resolve));
      ended.kill("SIGKILL");
      await gone;
    },
    async close() {
      await server.kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}
