/**
 * Every gateway error that can reach a user, with its message and hint. `core/ERRORS.md` is generated from this table.
 */

interface ErrorText {
  /**
   * The message, one sentence. `{name}` is replaced by that detail, `{command}` by the command that runs this program.
   */
  readonly text: string;
  /** What the user can do about the error. */
  readonly hint: string;
}

export const errorTable = {
  config_missing: {
    text: "The configuration file {file} does not exist.",
    hint: "Create it, or pass another file with --config.",
  },
  config_empty: {
    text: "The configuration file {file} contains no configuration.",
    hint: "It may still be written: a complete file is read at once. To configure nothing, write {} to it.",
  },
  config_unreadable: {
    text: "The configuration file {file} cannot be read: {reason}.",
    hint: "Check its owner and mode.",
  },
  config_not_written: {
    text: "The configuration file {file} cannot be written: {reason}.",
    hint: "{fix} Nothing was changed.",
  },
  config_syntax: {
    text: "{file}:{line}:{column}: {reason}.",
    hint: "Correct the file. `{command} config validate` lists every problem.",
  },
  config_invalid: { text: "{path}: {reason}.", hint: "{fix}" },
  config_name_taken: {
    text: "The configuration file {file} has the name of a file that the gateway writes into its state directory.",
    hint: "Give it another name, such as config.jsonc, and pass that with --config.",
  },
  config_not_from_chat: {
    text: "{path} cannot be changed from a chat.",
    hint: "Change it on the gateway's machine: `{command} config set {path} VALUE`.",
  },
  config_path_unknown: { text: "The configuration key {path} does not exist.", hint: "{fix}" },
  secret_unavailable: {
    text: "{path}: the secret cannot be read: {reason}.",
    hint: "Set the variable or the file that it names.",
  },
  secret_weak: { text: "{path} {reason}.", hint: "{fix}" },
  state_locked: {
    text: "Another gateway (process {pid}) uses the state directory {directory}.",
    hint: "Stop it with `{command} stop --state {directory}`, or name another directory with --state.",
  },
  state_forbidden: {
    text: "This user may not read the state directory {directory}.",
    hint: "Run the command as the user of the gateway or as root, or pass another directory with --state.",
  },
  state_unreadable: {
    text: "The state directory {directory} cannot be used: {reason}.",
    hint: "Check its owner, its mode and the free space, or name another directory with --state.",
  },
  state_version: {
    text: "The state in {directory} was written by a newer version (schema {found}, this program knows {known}).",
    hint: "Run the newer version, or set another state directory.",
  },
  state_no_room: {
    text: "The gateway cannot start: the disk of its state directory {directory} is full.",
    hint:
      "Free space there (`df -h {directory}` shows how much is left), then start the gateway again. " +
      "Nothing that was accepted is lost.",
  },
  state_full: {
    text: "The event could not be stored: {reason}.",
    hint: "Free space on the disk of the state directory. The sender will retry.",
  },
  state_lost: { text: "The state in {directory} is lost: {reason}, but a gateway has run on it.", hint: "{restore}" },
  state_behind: {
    text:
      "The state in {directory} is older than its last use: {missing} of {commits} commits are missing, " +
      "because state.db-wal was cut or removed, or an older copy was put in place.",
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
    text: "This gateway no longer owns its state; another one has taken it over.",
    hint: "Run one gateway for each state directory.",
  },
  state_gone: {
    text: "The gateway has lost its state directory {directory}: {reason} while it ran.",
    hint: "Restore the files and start the gateway again. Do not move or delete them while a gateway runs.",
  },
  state_copy_refused: { text: "The state cannot be copied to {target}: {reason}.", hint: "{fix}" },
  state_copy_differs: {
    text: "The copy in {target} differs from its source: {reason}. No gateway will start on it.",
    hint: "A gateway wrote to the source meanwhile. Stop all gateways, remove the copy, and run the command again.",
  },
  state_copy_unfinished: {
    text: "The state is an unfinished copy of another one, so no gateway can start on it.",
    hint: "Run `{command} state copy` again as before. It continues where it stopped.",
  },
  backup_not_written: { text: "The backup {file} was not written: {reason}.", hint: "{fix}" },
  backup_unreadable: {
    text: "The backup {file} cannot be read: {reason}.",
    hint: "Check the name of the file, its owner and its mode.",
  },
  backup_damaged: {
    text: "The backup {file} is damaged: {reason}.",
    hint: "Nothing was restored. Use another copy of it, or an older backup.",
  },
  backup_newer: {
    text: "The backup {file} was made by a newer version ({found}; this is {known}).",
    hint: "Nothing was restored. Install that version first: npm install -g {package}@{found}",
  },
  backup_unsafe: {
    text: "The backup {file} is refused: {reason}.",
    hint: "Nothing was restored. This program makes no such file: use a backup from a place that you trust.",
  },
  restore_refused: { text: "Nothing can be restored into {directory}: {reason}.", hint: "{fix}" },
  update_unknown: { text: "The newest version is unknown: {reason}.", hint: "{fix}" },
  store_unknown: {
    text: "state.store: there is no store {store}.",
    hint:
      "{meant}Known stores: {known}. The plugin of another one is a folder, file or package named " +
      "store-{store}, listed in plugins.load.",
  },
  store_not_opened: { text: "The store {store} cannot be opened at {address} (state.url): {reason}.", hint: "{fix}" },
  database_away: {
    text: "The database is not available: {reason}.",
    hint: "Check that the database runs and that state.url is right. The gateway reconnects by itself; senders retry.",
  },
  database_unusable: {
    text: "The database cannot be used: {reason}.",
    hint: "Check state.url, and what its user may do.",
  },
  database_too_old: {
    text: "The database server has version {version}: this program needs {needed} or later.",
    hint: "Update the server, or use another one.",
  },
  database_version: {
    text: "The state in the database was written by a newer version (schema {found}, this program knows {known}).",
    hint: "Run the newer version, or use another database.",
  },
  database_in_use: {
    text:
      "This version must change the database (to schema {needed}), and nodes of an older version still " +
      "use it: {nodes}.",
    hint: "Stop these nodes, start this one, and then start the others with the new version.",
  },
  database_foreign: {
    text: "The schema {schema} of the database does not belong to this program: {reason}.",
    hint: "Name another schema at the end of state.url: ?schema=NAME.",
  },
  lease_lost: {
    text: "This node did not renew its lease in time, so another node may have taken over its work.",
    hint:
      "The work continues on a node that holds a lease. Check this machine's load and its connection to " +
      "the database.",
  },
  port_in_use: {
    text: "{host}:{port} is already in use.",
    hint: "Stop the other program, or {otherwise}.",
  },
  listen_failed: { text: "Cannot listen on {host}:{port}: {reason}.", hint: "Check gateway.host and gateway.port." },
  plugin_not_found: {
    text: "The plugin {plugin} cannot be found: {reason}.",
    hint: "Check the path, or plugins.load in the configuration.",
  },
  plugin_load_failed: {
    text: "The plugin {plugin} cannot be loaded: {reason}.",
    hint: "Correct the plugin, then run `{command} plugins list` to load it again.",
  },
  plugin_invalid: {
    text: "The declaration of the plugin {plugin} is invalid: {reason}.",
    hint: "Create plugins with definePlugin, defineChannel or defineEngine from service-gateway/sdk.",
  },
  plugin_range: {
    text: "The plugin {plugin} was written for SDK {range}; this host provides {version}.",
    hint: "Update the plugin, or this program.",
  },
  plugin_requires: {
    text: "The plugin {plugin} requires {required}, which is not loaded.",
    hint: "Load it, or disable {plugin}.",
  },
  plugin_duplicate: {
    text: "Two plugins have the id {plugin}: {first} and {second}. Only the first is loaded.",
    hint: "Remove one of the two from plugins.load, or change its id.",
  },
  plugin_folder_used: {
    text: "No plugin was created in {directory}: {reason}.",
    hint: "Pass another folder with --dir.",
  },
  plugin_not_created: {
    text: "The plugin in {directory} was not created: {reason}.",
    hint: "Check the owner, mode and space of the folder.",
  },
  plugin_refused: { text: "The package {plugin} is refused: {reason}.", hint: "{fix} Nothing was changed." },
  plugin_not_installed: {
    text: "`plugins add` has not added a plugin {plugin}.",
    hint: "{fix}",
  },
  plugins_lock_unreadable: {
    text: "The lock file of installed plugins {file} cannot be read: {reason}.",
    hint: "Restore it from a copy, or remove it and add the plugins again.",
  },
  plugins_busy: {
    text: "Another process ({pid}) is changing the plugins in {directory}.",
    hint: "Run the command again when it has finished.",
  },
  npm_missing: {
    text: "npm, which installs plugins, is not on this machine.",
    hint: "Install npm, which most packages of Node contain, or add its folder to PATH.",
  },
  npm_failed: { text: "npm could not {action}: {reason}.", hint: "{fix} Nothing was changed." },
  plugin_isolation: {
    text: "The plugin {plugin} cannot run in a worker: {reason}.",
    hint: "Remove plugins.entries.{plugin}.isolation, so that it runs inline, or change the plugin.",
  },
  plugin_worker_ended: {
    text: "The worker of the plugin {plugin} has ended: {reason}.",
    hint: "The gateway starts it again. Read the plugin's log lines.",
  },
  plugin_options: {
    text: "plugins.entries.{plugin}.options{path}: {reason}.",
    hint: "Correct the value. The plugin stays off until then.",
  },
  plugin_setup_failed: { text: "The plugin {plugin} failed in setup: {reason}.", hint: "The gateway runs without it." },
  plugin_setup_timeout: {
    text: "The plugin {plugin} did not finish setup within {seconds} s.",
    hint: "The gateway runs without it.",
  },
  plugin_tap_failed: { text: "The plugin {plugin} failed at {hook}: {reason}.", hint: "Check the plugin's log lines." },
  plugin_tap_timeout: {
    text: "The plugin {plugin} did not answer at {hook} within {seconds} s.",
    hint: "Check the plugin's log lines.",
  },
  plugin_answer_invalid: {
    text: "The plugin {plugin} returned an invalid value at {hook}: {reason}.",
    hint: "This is a bug in the plugin. Disable the plugin until it is fixed.",
  },
  account_closed: {
    text: "The account {account} of {channel} is closed and accepts no events.",
    hint: "The account that replaced it accepts the event when the platform sends it again.",
  },
  engine_unknown: { text: "The engine {engine} is not loaded.", hint: "Loaded engines: {known}." },
  model_unknown: {
    text: "The model {model} is not configured.",
    hint: "Write it as provider/model, with the provider under models.providers, or as an alias.",
  },
  model_key_missing: {
    text: "The provider {provider} has no key: set {variable} in the environment of the gateway, or {path}.",
    hint: 'A secret is a text, { "env": "NAME" } or { "file": "path" }.',
  },
  engine_failed: { text: "The engine {engine} failed: {reason}.", hint: "{fix}" },
  turn_timeout: { text: "The turn was stopped after {seconds} s.", hint: "Raise {setting}, or split the request." },
  gateway_closing: {
    text: "The gateway is shutting down and accepts no more events.",
    hint: "Send it again when the gateway is running.",
  },
  state_missing: {
    text: "The directory {directory} does not contain any state yet.",
    hint: "Start a gateway with `{command} gateway` or `{command} dev`, or pass its directory with --state.",
  },
  chat_without_events: {
    text: "The chat {chat} has no events.",
    hint: "`{command} events list` shows the chats with events. Events are stored for seven days.",
  },
  event_none: { text: "Nothing has happened yet.", hint: "Write to the bot, or call a webhook." },
  event_unknown: {
    text: "The event {event} does not exist.",
    hint: "Events are stored for seven days. `{command} why last` shows the newest.",
  },
  pairing_code_unknown: {
    text: "No request for {channel} has the code {code}.",
    hint: "Codes expire after an hour. `{command} pairing list` shows the pending requests.",
  },
  pairing_locked: {
    text: "Too many wrong codes: approval for {channel} is locked for up to ten minutes.",
    hint: "Wait, then copy the code from `{command} pairing list`.",
  },
  pairing_sender_unknown: {
    text: "The sender {id} is not approved for {channel}.",
    hint: "`{command} pairing list` shows the approved senders.",
  },
  token_none: {
    text: "{path} is not set, so there is no token to replace.",
    hint: "Set it: `{command} config set {path} TOKEN`.",
  },
  token_from_environment: {
    text: "{path} is read from the environment variable {variable}, which this command cannot change.",
    hint:
      'Name a variable with the old token in {previous}: { "token": { "env": "OLD" }, "until": "<time>" ' +
      "}, change {variable} and restart.",
  },
  token_not_written: {
    text: "The token in {file} was not replaced: {reason}.",
    hint: "Check the owner and mode of the file and its folder.",
  },
  session_none: {
    text: "No conversation is stored yet.",
    hint: "Write to the bot. A webhook run stores a conversation when it has a sessionKey.",
  },
  session_unknown: {
    text: "The session {session} does not exist.",
    hint: "`{command} sessions list` shows the keys. Any part of a key is enough.",
  },
  session_not_whole: {
    text: '"{session}" is not a complete session key.',
    hint: "Did you mean `{command} sessions delete {key}`?",
  },
  out_unwritable: { text: "{file} cannot be written: {reason}.", hint: "Pass another file with --out." },
  delivery_none: { text: "No webhook has been received yet.", hint: "`{command} hooks list` shows the URLs." },
  delivery_unknown: {
    text: "The delivery {event} does not exist.",
    hint: "`{command} hooks deliveries` lists the deliveries of the last seven days.",
  },
  delivery_running: {
    text: "The delivery {event} has not ended yet.",
    hint: "Wait until it ends. `{command} hooks show {event}` shows its progress.",
  },
  delivery_unmapped: {
    text: "The delivery {event} went to {hook}, which no mapping handles.",
    hint: "Leave out --remap to run it again unchanged.",
  },
  delivery_not_mapped: { text: "The delivery {event} failed again: {reason}.", hint: "{fix}" },
  fixture_invalid: {
    text: "{file} does not contain a delivery: {reason}.",
    hint: "`{command} hooks record NAME` saves one. A file that contains only the payload works too.",
  },
  delivery_unsendable: { text: "The delivery to {hook} cannot be sent: {reason}.", hint: "{fix}" },
  fixture_exists: { text: "The file {file} already exists.", hint: "Pass another file with --out." },
  recording_ended: { text: "Nothing was recorded: {reason}.", hint: "{fix}" },
  gateway_not_running: {
    text: "No gateway is running on {directory}.",
    hint: "Start it with `{command} gateway`, or pass its state directory with --state.",
  },
  gateway_embedded: {
    text: "This gateway cannot be {what} from outside.",
    hint: "Do that in the program that embeds it.",
  },
  gateway_refused: { text: "The gateway at {url} refused: {reason}.", hint: "{fix}" },
  gateway_still_runs: {
    text: "The gateway (process {pid}) is still running after {seconds} s.",
    hint: "`{command} logs` may show why. It is safe to kill the process.",
  },
  gateway_not_back: {
    text: "The gateway stopped and did not start again.",
    hint: "`{command} logs` and `{command} doctor` may show why.",
  },
  gateway_silent: { text: "The gateway at {url} did not respond: {reason}.", hint: "`{command} logs` may show why." },
  log_missing: {
    text: "The log {file} does not exist yet.",
    hint: "Start a gateway with `{command} gateway`; it creates the log.",
  },
  interrupted: { text: "Interrupted.", hint: "" },
  service_refused: {
    text: "{what}: {reason}.",
    hint: "`{command} service status` shows what is installed.",
  },
  service_unsupported: {
    text: "There is no way to install a service on {reason} here.",
    hint: "Let the supervisor of this system run `{command} gateway`.",
  },
  init_unfinished: { text: "{reason}.", hint: "{fix}" },
  usage: { text: "{reason}.", hint: "Run the command with --help." },
} as const satisfies Record<string, ErrorText>;
