/**
 * All handlers of what others send, by the file that attaches them: the events, and the test below `test/` in which the
 * source misbehaves. Where an event carries what the source chose, the test feeds it each kind of junk, and 10,000 in a
 * row (`test/support/junk.ts`).
 */
export const handlerTests: Readonly<Record<string, { readonly events: string; readonly by: string }>> = {
  "core/agents/speech/program.ts": { events: "close data error", by: "core/agents/speech/program.test.ts" },
  "core/backups/thread.ts": { events: "error exit message", by: "core/backups/thread.test.ts" },
  "core/cli/init/own-gateway.ts": { events: "close", by: "core/cli/init-questions.full.test.ts" },
  "core/cli/output/questions.ts": { events: "close", by: "core/cli/plugin-call.full.test.ts" },
  "core/cli/output/terminal.ts": { events: "error", by: "core/cli/terminal.test.ts" },
  "core/cli/plugins/check/plugin-check.ts": { events: "exit", by: "core/cli/plugin-check.full.test.ts" },
  "core/cli/plugins/install/plugin-add.ts": { events: "exit", by: "core/cli/plugin-add.full.test.ts" },
  "core/cli/start/gateway.ts": {
    events: "uncaughtExceptionMonitor unhandledRejection",
    by: "core/cli/gateway-command.full.test.ts",
  },
  "core/cli/start/watch-folder.ts": { events: "close error", by: "e2e/dev-plugin.full.test.ts" },
  "core/config/reading/watch.ts": { events: "error", by: "core/config/watch.test.ts" },
  "core/gateway/http-side.ts": { events: "error", by: "core/host/plugin-faults.full.test.ts" },
  "core/gateway/nodes.ts": { events: "note", by: "e2e/nodes-forged.full.test.ts" },
  "core/http/body.ts": { events: "data end error", by: "e2e/junk-requests.full.test.ts" },
  "core/http/client-end.ts": { events: "close end", by: "core/http/half-closed.test.ts" },
  "core/http/event-stream.ts": { events: "drain error", by: "core/http/event-stream.test.ts" },
  "core/http/send.ts": { events: "close data end error", by: "e2e/junk-requests.full.test.ts" },
  "core/http/server.ts": { events: "close connection", by: "core/http/server.test.ts" },
  "core/isolation/plugin-thread.ts": { events: "error exit message", by: "core/listeners/fed-handlers.full.test.ts" },
  "core/isolation/worker.ts": { events: "message unhandledRejection", by: "core/listeners/fed-handlers.full.test.ts" },
  "core/media/guarded-fetch.ts": { events: "<event> close error", by: "core/media/guarded-fetch.test.ts" },
  "core/media/public-request.ts": { events: "error", by: "core/media/public-request.test.ts" },
  "core/media/read-lines.ts": { events: "data", by: "core/sdk/connect-lines.test.ts" },
  "core/sdk/lines/connection.ts": {
    events: "close connect error secureConnect",
    by: "core/sdk/connect-lines.test.ts",
  },
  "core/state/sqlite/thread/queue.ts": { events: "error exit message", by: "core/listeners/fed-handlers.full.test.ts" },
  "core/state/sqlite/thread/serve-writes.ts": { events: "message", by: "core/listeners/fed-handlers.full.test.ts" },
  "core/state/sqlite/thread/writer-side.ts": {
    events: "close message",
    by: "core/listeners/fed-handlers.full.test.ts",
  },
  "core/testkit/host/faults.ts": { events: "unhandledRejection", by: "core/testkit/broken-channels.full.test.ts" },
  "core/transforms/modules/compiler.ts": { events: "error", by: "core/transforms/languages.full.test.ts" },
  "core/transforms/thread.ts": { events: "error exit message", by: "core/listeners/fed-handlers.full.test.ts" },
  "core/transforms/trusted-process.ts": {
    events: "close data error exit message",
    by: "core/listeners/fed-handlers.full.test.ts",
  },
  "core/transforms/trusted-runner.ts": {
    events: "close data error message",
    by: "core/listeners/fed-handlers.full.test.ts",
  },
  "core/transforms/worker.ts": { events: "message", by: "core/listeners/fed-handlers.full.test.ts" },
  "core/webhooks/endpoint/answers.ts": { events: "finish", by: "e2e/hook-clients.full.test.ts" },
  "core/webhooks/endpoint/receive-delivery.ts": { events: "close", by: "e2e/hook-flood.full.test.ts" },
  "core/webhooks/mapping/multipart.ts": {
    events: "data end error field file finish partsLimit",
    by: "e2e/junk-requests.full.test.ts",
  },
  "plugins/botchat/intake/webhook.ts": { events: "error request", by: "plugins/botchat/webhook-junk.full.test.ts" },
  "plugins/discord/gateway.ts": { events: "close error message", by: "plugins/discord/gateway-junk.full.test.ts" },
  "plugins/mail/imap/connection.ts": { events: "error", by: "plugins/mail/imap-faults.full.test.ts" },
  "plugins/mail/imap/open-folders.ts": { events: "close error exists", by: "plugins/mail/imap-faults.full.test.ts" },
  "plugins/mail/imap/paced-socket.ts": {
    events: "close data end error timeout",
    by: "plugins/mail/imap-faults.full.test.ts",
  },
  "plugins/mail/setup/gmail/consent.ts": { events: "error request", by: "plugins/mail/setup-gmail.full.test.ts" },
  "plugins/mail/setup/imap/certificate.ts": { events: "timeout", by: "plugins/mail/setup-imap.full.test.ts" },
  "plugins/mail/setup/imap/checks.ts": { events: "connect error timeout", by: "plugins/mail/setup-imap.full.test.ts" },
  "plugins/mattermost/receive/link.ts": {
    events: "close error message open",
    by: "plugins/mattermost/junk.full.test.ts",
  },
  "plugins/mcp/program/transport.ts": { events: "close data error exit spawn", by: "plugins/mcp/program.full.test.ts" },
  "plugins/playground/platform/index.ts": { events: "error request", by: "plugins/playground/junk.full.test.ts" },
  "plugins/playground/platform/server/body.ts": {
    events: "close data end error",
    by: "plugins/playground/junk.full.test.ts",
  },
  "plugins/playground/platform/server/calling.ts": { events: "close", by: "plugins/playground/faults.test.ts" },
  "plugins/playground/platform/server/event-stream.ts": { events: "close", by: "plugins/playground/page.full.test.ts" },
  "plugins/playground/platform/webhook.ts": {
    events: "data end error response timeout",
    by: "plugins/playground/updates.test.ts",
  },
  "plugins/slack/receive/link.ts": { events: "close error message", by: "plugins/slack/socket-junk.full.test.ts" },
  "plugins/store-postgres/check/check.ts": { events: "error", by: "plugins/store-postgres/check.full.test.ts" },
  "plugins/store-postgres/nodes/listening.ts": {
    events: "end error notification",
    by: "plugins/store-postgres/notes.full.test.ts",
  },
  "plugins/store-postgres/pool.ts": { events: "connect error", by: "plugins/store-postgres/faults.full.test.ts" },
};
