/** Every error of the gateway that can reach a user: its sentence, and what to do about it. `core/ERRORS.md` is written from it. */

interface ErrorText {
  /** One sentence. `{name}` is replaced by the detail of that name, `{command}` by the command that runs this program. */
  readonly text: string;
  /** What to do about it. */
  readonly hint: string;
}

export const errorTable = {
  node_too_old: {
    text: "Node {version} is too old: this program needs Node 24.16 or later in the 24 line, or 26.1 or later.",
    hint: "Install a current Node, or run the program through npm, which brings its own.",
  },
  config_missing: { text: "The configuration file {file} does not exist.", hint: "Create it, or name another with --config." },
  config_unreadable: { text: "The configuration file {file} cannot be read: {reason}.", hint: "Check its owner and mode." },
  config_syntax: { text: "{file}:{line}:{column}: {reason}.", hint: "Mend the file; `{command} config validate` lists every problem." },
  config_invalid: { text: "{path}: {reason}.", hint: "{fix}" },
  config_not_from_chat: {
    text: "{path} cannot be changed from a chat.",
    hint: "Change it on the gateway's machine: `{command} config set {path} VALUE`.",
  },
  config_path_unknown: { text: "There is no configuration key {path}.", hint: "{fix}" },
  secret_unavailable: { text: "{path}: the secret cannot be read: {reason}.", hint: "Set the variable or the file that it names." },
  state_locked: {
    text: "Another gateway (process {pid}) uses the state directory {directory}.",
    hint: "Stop it, or set SERVICE_STATE_DIR to another directory.",
  },
  state_unreadable: {
    text: "The state directory {directory} cannot be used: {reason}.",
    hint: "Check its owner, its mode and the free space.",
  },
  state_version: {
    text: "The state in {directory} was written by a newer version (schema {found}, this program knows {known}).",
    hint: "Run the newer version, or name another state directory.",
  },
  state_full: {
    text: "The event could not be stored: {reason}.",
    hint: "Free space on the disk of the state directory; the sender will try again.",
  },
  state_lost: { text: "The state in {directory} is lost: {reason}, but a gateway has run on it.", hint: "{restore}" },
  state_behind: {
    text: "The state in {directory} is older than its last use: {missing} of {commits} commits are missing, because state.db-wal was cut or removed, or an older copy was put in place.",
    hint: "{restore}",
  },
  state_replaced: { text: "{directory}/state.db is not the database that was used here: {reason}.", hint: "{restore}" },
  state_foreign: { text: "{directory}/state.db does not belong to this program: {reason}.", hint: "{restore}" },
  state_damaged: { text: "The state in {directory} is damaged: {reason}.", hint: "{restore}" },
  state_lock_damaged: {
    text: "{directory}/lock.db cannot be used as a lock: {reason}.",
    hint: "Delete lock.db and start again. It contains no data.",
  },
  state_fenced: {
    text: "This gateway no longer owns the state directory; another one has taken it over.",
    hint: "Run one gateway for each state directory.",
  },
  state_gone: {
    text: "The gateway has lost its state directory {directory}: {reason} while it ran.",
    hint: "Put the files back and start it again. Nothing may move or delete them while a gateway runs.",
  },
  port_in_use: { text: "{host}:{port} is already in use.", hint: "Stop the other program, or set gateway.port (0 takes any free port)." },
  listen_failed: { text: "Cannot listen on {host}:{port}: {reason}.", hint: "Check gateway.host and gateway.port." },
  plugin_not_found: { text: "The plugin {plugin} cannot be found: {reason}.", hint: "Check plugins.load in the configuration." },
  plugin_load_failed: {
    text: "The plugin {plugin} cannot be loaded: {reason}.",
    hint: "Mend it; `{command} plugins list` loads it again.",
  },
  plugin_invalid: {
    text: "The plugin {plugin} is not declared properly: {reason}.",
    hint: "A plugin is made by definePlugin, defineChannel or defineEngine of service-gateway/sdk.",
  },
  plugin_range: {
    text: "The plugin {plugin} was written for SDK {range}; this host provides {version}.",
    hint: "Update the plugin, or this program.",
  },
  plugin_requires: { text: "The plugin {plugin} requires {required}, which is not loaded.", hint: "Load it, or disable {plugin}." },
  plugin_duplicate: { text: "The plugin id {plugin} is used twice.", hint: "Remove one of the two from plugins.load." },
  plugin_options: {
    text: "plugins.entries.{plugin}.options{path}: {reason}.",
    hint: "Correct the value; the plugin is left out until then.",
  },
  plugin_setup_failed: { text: "The plugin {plugin} failed in setup: {reason}.", hint: "The rest runs without it." },
  plugin_setup_timeout: { text: "The plugin {plugin} did not finish setup within {seconds} s.", hint: "The rest runs without it." },
  plugin_tap_failed: { text: "The plugin {plugin} failed at {hook}: {reason}.", hint: "Look at the plugin's own log lines." },
  plugin_tap_timeout: {
    text: "The plugin {plugin} did not answer at {hook} within {seconds} s.",
    hint: "Look at the plugin's own log lines.",
  },
  plugin_answer_invalid: {
    text: "The plugin {plugin} returned something unusable at {hook}: {reason}.",
    hint: "This is a mistake of the plugin; disable it until it is corrected.",
  },
  account_closed: {
    text: "The account {account} of {channel} is closed and accepts no events.",
    hint: "The account that replaced it receives the event when the platform sends it again.",
  },
  channel_account: { text: "channels.{channel}.accounts.{account}: {reason}.", hint: "{fix}" },
  engine_unknown: { text: "There is no engine {engine}.", hint: "Engines that are loaded: {known}." },
  model_unknown: {
    text: "There is no model {model}.",
    hint: "Write it as provider/model, with the provider under models.providers, or as an alias.",
  },
  engine_failed: { text: "The engine {engine} failed: {reason}.", hint: "{fix}" },
  turn_timeout: { text: "The turn was ended after {seconds} s.", hint: "Raise agents.defaults.timeoutSeconds, or ask for less at once." },
  gateway_closing: {
    text: "The gateway closes and takes nothing more in.",
    hint: "Send it again once the gateway is back.",
  },
  gateway_unreachable: { text: "No gateway runs on the state directory {directory}.", hint: "Start one with `{command} gateway`." },
  state_missing: {
    text: "There is no state in {directory} yet.",
    hint: "Start a gateway with `{command} gateway` or `{command} dev`, or name its directory with --state.",
  },
  chat_without_events: {
    text: "There is no event of the chat {chat}.",
    hint: "`{command} events list` shows which chats wrote; events are kept for seven days.",
  },
  event_none: { text: "Nothing has happened yet.", hint: "Write to the bot, or call a webhook." },
  event_unknown: { text: "There is no event {event}.", hint: "Events are kept for seven days; `{command} why last` shows the newest." },
  pairing_code_unknown: {
    text: "No request at {channel} has the code {code}.",
    hint: "Codes end after an hour; `{command} pairing list` shows those that wait.",
  },
  pairing_locked: {
    text: "Too many wrong codes: approving at {channel} is locked for up to ten minutes.",
    hint: "Wait, then take the code from `{command} pairing list`.",
  },
  pairing_sender_unknown: { text: "No sender with the id {id} is approved at {channel}.", hint: "`{command} pairing list` shows who is." },
  token_none: {
    text: "{path} is not set, so there is no token to replace.",
    hint: "Set it: `{command} config set {path} TOKEN`.",
  },
  token_from_environment: {
    text: "{path} is read from the environment variable {variable}, which this command cannot change.",
    hint: 'Name a variable with the old token in {previous}: { "token": { "env": "OLD" }, "until": "<time>" }, change {variable} and restart.',
  },
  token_not_written: {
    text: "The token in {file} was not replaced: {reason}.",
    hint: "Check the owner and mode of the file and its folder.",
  },
  session_none: {
    text: "No conversation is kept yet.",
    hint: "Write to the bot; the run of a webhook leaves one when it has a sessionKey.",
  },
  session_unknown: { text: "There is no session {session}.", hint: "`{command} sessions list` shows the keys; any part of one will do." },
  session_not_whole: { text: '"{session}" is not the whole key of a session.', hint: "Did you mean `{command} sessions delete {key}`?" },
  out_unwritable: { text: "{file} cannot be written: {reason}.", hint: "Name another file with --out." },
  delivery_none: { text: "No webhook has called yet.", hint: "`{command} hooks list` shows the addresses." },
  delivery_unknown: { text: "There is no delivery {event}.", hint: "`{command} hooks deliveries` shows those of the last seven days." },
  delivery_running: {
    text: "The delivery {event} has not ended yet.",
    hint: "Wait for its end; `{command} hooks show {event}` shows its progress.",
  },
  delivery_unmapped: {
    text: "The delivery {event} went to {hook}, which no mapping handles.",
    hint: "Without --remap it runs again as it was.",
  },
  delivery_not_mapped: { text: "The delivery {event} failed again: {reason}.", hint: "{fix}" },
  fixture_invalid: {
    text: "{file} holds no delivery: {reason}.",
    hint: "`{command} hooks record NAME` saves one; a file with nothing but the payload works too.",
  },
  delivery_unsendable: { text: "The delivery to {hook} cannot be sent: {reason}.", hint: "{fix}" },
  fixture_exists: { text: "The file {file} exists already.", hint: "Name another one with --out." },
  recording_ended: { text: "Nothing was recorded: {reason}.", hint: "{fix}" },
  gateway_not_running: {
    text: "No gateway runs on {directory}.",
    hint: "Start it with `{command} gateway`, or name its state directory with --state.",
  },
  gateway_embedded: { text: "This gateway cannot be {what} from outside.", hint: "Do that where the program that runs it was started." },
  gateway_refused: { text: "The gateway at {url} refused: {reason}.", hint: "{fix}" },
  gateway_still_runs: {
    text: "The gateway (process {pid}) still runs after {seconds} s.",
    hint: "`{command} logs` may say why; it may be killed.",
  },
  gateway_not_back: { text: "The gateway stopped and did not come back.", hint: "`{command} logs` and `{command} doctor` may say why." },
  gateway_silent: { text: "The gateway at {url} did not answer: {reason}.", hint: "`{command} logs` may say why." },
  log_missing: { text: "There is no log in {file} yet.", hint: "A gateway writes it; start one with `{command} gateway`." },
  usage: { text: "{reason}.", hint: "Run the command with --help." },
} as const satisfies Record<string, ErrorText>;
