import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import type { ChannelError } from "../../../core/contract/index.ts";
import { connectLines } from "../../../core/sdk/lines/connection.ts";
import { createCertificate } from "../../plugins/botchat/certificate.ts";
import { burst, junkTexts } from "../../support/junk.ts";

async function open(
  serve: (socket: Socket) => void,
  options: { readonly maxChars?: number } = { maxChars: 4_000_000 },
) {
  const server = createServer((socket) => serve(socket.on("error", () => {}))).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const lines: string[] = [];
  const connection = connectLines({ host: "127.0.0.1", port, tls: false, ...options }, (line) => void lines.push(line));
  onTestFinished(async () => {
    connection.close();
    server.close();
    await once(server, "close");
  });
  return { connection, lines };
}

test("lines arrive whole in packets of any size, and only a line feed ends a line", async () => {
  const bytes = Buffer.from("one\r\ntwo\nthr€e\u2028four\u0085five\rsix\nseven");
  const { lines } = await open((socket) => {
    // In the middle of the euro sign.
    socket.setNoDelay().write(bytes.subarray(0, 15));
    setTimeout(() => socket.write(bytes.subarray(15)), 50);
  });
  await expect.poll(() => lines).toEqual(["one", "two", "thr€e\u2028four\u0085five\rsix"]);
});

test("a goodbye is sent once, before the connection closes", async () => {
  let heard = "";
  const { connection } = await open((socket) => {
    socket.write("welcome\n");
    socket.on("data", (chunk) => {
      heard += String(chunk);
      if (heard.includes("hello")) connection.close("BYE");
      connection.close("BYE");
    });
  });
  connection.write("hello");
  expect((await connection.lost).message).toBe("The server closed the connection");
  await expect.poll(() => heard).toBe("hello\r\nBYE\r\n");
});

test("any junk and a burst of 10,000 lines arrive as lines; an unhandled one ends only its connection", async () => {
  const { connection, lines } = await open((socket) => {
    for (const text of junkTexts) socket.write(`${text}\n`);
    socket.write("null\n".repeat(burst));
    socket.write("good\n");
  });
  await expect.poll(() => lines.at(-1)).toBe("good");
  expect(lines.length).toBe(junkTexts.length + burst + 1);
  connection.close();
});

test("an endless line ends the connection", async () => {
  const { connection } = await open((socket) => void socket.write("x".repeat(2_000)), { maxChars: 1_000 });
  expect((await connection.lost).message).toBe("The server sent a line without an end");
});

test("a line that contains a line break is rejected, because it would be two commands", async () => {
  const heard: string[] = [];
  const { connection } = await open((socket) => void socket.on("data", (chunk) => void heard.push(String(chunk))));
  for (const line of ["PRIVMSG a\r\nQUIT :x", "a\nb", "a\rb", "a\0b"])
    expect(() => connection.write(line)).toThrow(
      expect.objectContaining({ name: "ChannelError", reason: "bad_request" }),
    );
  connection.write("whole");
  await expect.poll(() => heard.join("")).toBe("whole\r\n");
});

test("an untrusted certificate is reported with the setting to use, an unreadable one as permanent", async () => {
  const server = createTlsServer(createCertificate("localhost"), (socket) => socket.on("error", () => {})).on(
    "tlsClientError",
    () => {},
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const reason = (await connectLines({ host: "127.0.0.1", port, tls: true }, () => {}).lost) as ChannelError;
  expect(reason).toMatchObject({
    reason: "certificate_refused",
    retryable: true,
    message: "The server's certificate is not trusted: self-signed certificate",
    hint: "Set caFile to the certificate that signed the server's.",
  });
  const missing = { host: "127.0.0.1", port, tls: true, caFile: "/nowhere/ca.pem" };
  expect(() => connectLines(missing, () => {})).toThrow(
    expect.objectContaining({
      reason: "certificate_refused",
      retryable: false,
      message: expect.stringContaining("/nowhere/ca.pem"),
    }),
  );
});

test("a server without TLS is reported with the wrong option instead of an OpenSSL location", async () => {
  const server = createServer(
    (socket) => void socket.on("error", () => {}).write(":irc.test NOTICE * :*** Looking up your hostname\r\n"),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const reason = await connectLines({ host: "127.0.0.1", port, tls: true }, () => {}).lost;
  expect(reason).toMatchObject({
    reason: "network",
    retryable: true,
    message: "The server does not speak TLS on this port",
    hint: expect.stringContaining("Set port to the port for TLS"),
  });
});

test("an unreachable server is reported as a reason, not thrown", async () => {
  const connection = connectLines({ host: "127.0.0.1", port: 1, tls: false }, () => {});
  connection.write("hello");
  expect((await connection.lost).message).toContain("ECONNREFUSED");
});
