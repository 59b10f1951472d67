/**
 * A real IMAP server, Dovecot, without privileges and below one directory; `hasDovecot` says whether it is installed.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort, isOpen } from "../ports.ts";
import type { MailServer } from "./mail-server.ts";

const run = promisify(execFile);
/** Mail of the superuser is refused. */
const nobody = 65_534;

export const hasDovecot: boolean = ["/usr/sbin/dovecot", "/usr/local/sbin/dovecot"].some((file) => existsSync(file));

const isRoot = process.getuid?.() === 0;
const owner = isRoot ? { uid: nobody, gid: nobody } : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
/** The names of the owner and its group, which are the same for all servers of a process. */
let names: Promise<readonly string[]> | undefined;

function findNames(): Promise<readonly string[]> {
  const name = async (flag: string) => (await run("id", [flag, ...(isRoot ? [String(owner.uid)] : [])])).stdout.trim();
  return Promise.all([name("-un"), name("-gn")]);
}

export async function startDovecot(): Promise<MailServer> {
  const directory = mkdtempSync(join(tmpdir(), "dovecot-"));
  const port = await freePort();
  names ??= findNames();
  const [user = "", group = ""] = await names;
  for (const each of ["mail", "run", "state"]) mkdirSync(join(directory, each));
  for (const each of ["", "mail", "run", "state"]) {
    chownSync(join(directory, each), owner.uid, owner.gid);
    chmodSync(join(directory, each), 0o755);
  }
  const file = join(directory, "dovecot.conf");
  let secret = "secret-of-ada";
  const writePassword = () =>
    writeFileSync(
      join(directory, "passwd"),
      `ada:{PLAIN}${secret}:${owner.uid}:${owner.gid}::${directory}/mail/ada::\n`,
    );
  writePassword();
  writeFileSync(
    file,
    `protocols = imap
base_dir = ${directory}/run
state_dir = ${directory}/state
log_path = ${directory}/dovecot.log
listen = 127.0.0.1
ssl = no
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
first_valid_uid = 1
mail_location = maildir:${directory}/mail/%u
mail_home = ${directory}/mail/%u
passdb {
  driver = passwd-file
  args = scheme=PLAIN username_format=%u ${directory}/passwd
}
userdb {
  driver = static
  args = uid=${owner.uid} gid=${owner.gid} home=${directory}/mail/%u
}
namespace inbox {
  inbox = yes
  separator = /
  mailbox Drafts {
    special_use = \\Drafts
    auto = create
  }
}
service imap-login {
  chroot =
  process_min_avail = 0
  inet_listener imap {
    address = 127.0.0.1
    port = ${port}
  }
  inet_listener imaps {
    port = 0
  }
}
service anvil {
  chroot =
  # Each refused password would delay the next login from this machine, by up to 15 s.
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
`,
  );
  let server: ChildProcess | undefined;
  async function start(): Promise<void> {
    server = spawn("dovecot", ["-F", "-c", file], {
      stdio: "ignore",
      ...(isRoot ? owner : {}),
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    });
    // The port is open before the server knows its users.
    const isReady = async () =>
      (await isOpen(port)) &&
      (await answerOf(["mailbox", "list", "-u", "ada"]).then(
        () => true,
        () => false,
      ));
    for (let left = 400; left > 0 && !(await isReady()); left -= 1) await sleep(25);
  }
  async function stop(): Promise<void> {
    const ended = new Promise((resolve) => server?.once("exit", resolve));
    server?.kill("SIGTERM");
    await ended;
  }
  const answerOf = (args: readonly string[], input?: string) =>
    new Promise<string>((resolve, reject) => {
      const child = spawn("doveadm", ["-c", file, ...args], {
        stdio: ["pipe", "pipe", "pipe"],
        ...(isRoot ? owner : {}),
      });
      let answer = "";
      let printed = "";
      child.stdout.on("data", (piece) => {
        answer += piece;
      });
      child.stderr.on("data", (piece) => {
        printed += piece;
      });
      child.once("close", (code) =>
        code === 0 ? resolve(answer) : reject(new Error(`doveadm ${args[0]}: ${printed}`)),
      );
      // A command that ends before it has read its input fails with what it says.
      child.stdin.on("error", () => {}).end(input ?? "");
    });
  const doveadm = async (args: readonly string[], input?: string) => void (await answerOf(args, input));
  /** The server numbers mails that come in at once by the times in their names. */
  let lastName = 0;
  /** As a delivery agent puts it into a maildir, which takes no process for each mail. */
  async function deliver(mail: string, folder = "INBOX"): Promise<void> {
    const place = join(directory, "mail", "ada", folder === "INBOX" ? "" : `.${folder}`);
    if (!existsSync(join(place, "new"))) await doveadm(["mailbox", "status", "-u", "ada", "messages", folder]);
    lastName = Math.max(lastName + 1, Date.now() * 1_000);
    const [seconds, micros] = [Math.floor(lastName / 1e6), lastName % 1e6];
    const name = `${seconds}.M${micros}P${process.pid}.test`;
    const file = join(place, "tmp", name);
    writeFileSync(file, mail.replaceAll("\r\n", "\n"));
    chownSync(file, owner.uid, owner.gid);
    renameSync(file, join(place, "new", name));
  }
  await start();
  return {
    port,
    user: "ada",
    password(next) {
      if (next !== undefined) {
        secret = next;
        writePassword();
      }
      return secret;
    },
    deliver,
    kick: () => doveadm(["kick", "ada"]),
    async renew(folder, mails) {
      await doveadm(["mailbox", "delete", "-u", "ada", "-s", folder]).catch(() => {});
      await doveadm(["mailbox", "create", "-u", "ada", folder]);
      for (const mail of mails) await deliver(mail, folder);
    },
    async flags(folder = "INBOX") {
      const lines = (await answerOf(["fetch", "-u", "ada", "flags", "mailbox", folder])).match(/^flags:.*$/gm) ?? [];
      return lines.map((line) =>
        line
          .split(" ")
          .slice(1)
          .filter((flag) => flag !== "" && flag !== "\\Recent"),
      );
    },
    async mails(folder = "INBOX") {
      const texts = (await answerOf(["fetch", "-u", "ada", "text", "mailbox", folder])).split("\f");
      return texts.flatMap((text) => (text.trim() === "" ? [] : [text.replace(/^\s*text:\n/, "")]));
    },
    stop,
    start,
    async close() {
      await stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
