/** The REST API of a Mattermost server, as far as a bot and its users need it. */
import type { Posts } from "./posts.ts";
import { AppError, type Channel, type User, type World } from "./world.ts";

export interface Call {
  readonly user: User;
  readonly params: readonly string[];
  readonly query: URLSearchParams;
  /** Parsed JSON, or the fields of a form. */
  readonly body: unknown;
  readonly form: FormData | undefined;
}

export interface Answer {
  readonly status?: number;
  readonly body?: unknown;
  readonly bytes?: Buffer;
}

type Handler = (call: Call) => Answer | Promise<Answer>;

const idForm = "([a-z0-9]{26})";

export function createRoutes(
  world: World,
  posts: Posts,
  {
    onTyping,
    press,
    ephemeral,
  }: {
    onTyping(user: User, channel: string): void;
    press(user: User, post: string, action: string): Promise<Answer>;
    ephemeral(user: string, post: object): void;
  },
): (method: string, path: string) => { readonly handler: Handler; readonly params: readonly string[] } | undefined {
  const userShown = ({ token: _, ...user }: User) => ({ ...user, first_name: "", last_name: "", nickname: "" });
  const channelShown = ({ members: _, ...channel }: Channel) => channel;
  const fields = (body: unknown) => (body ?? {}) as Readonly<Record<string, unknown>>;

  function userFor(id: string | undefined, caller: User): User {
    const user = id === "me" ? caller : world.users.get(id ?? "");
    if (user === undefined) throw new AppError("app.user.missing_account.const", 404);
    return user;
  }

  function createFile({ user, form, query }: Call): Answer {
    if (world.config.EnableFileAttachments === "false")
      throw new AppError("api.file.attachments.disabled.app_error", 403);
    const channel = String(form?.get("channel_id") ?? query.get("channel_id") ?? "");
    world.channelFor(channel, user);
    const sent = (form?.getAll("files") ?? []) as File[];
    if (sent.length === 0) throw new AppError("api.file.upload_file.read_request.app_error", 400);
    return { status: 201, body: { sent, channel } };
  }

  async function storeFiles(call: Call): Promise<Answer> {
    const { sent, channel } = createFile(call).body as { readonly sent: readonly File[]; readonly channel: string };
    const infos = [];
    for (const file of sent) {
      if (file.size > Number(world.config.MaxFileSize))
        throw new AppError("api.file.upload_file.too_large_detailed.app_error", 413);
      const id = world.newId();
      const stored = { id, user_id: call.user.id, channel_id: channel, name: file.name, mime_type: file.type };
      world.files.set(id, { ...stored, bytes: Buffer.from(await file.arrayBuffer()) });
      infos.push({ ...stored, size: file.size });
    }
    return { status: 201, body: { file_infos: infos, client_ids: [] } };
  }

  const table: readonly (readonly [method: string, path: string, handler: Handler])[] = [
    ["GET", "system/ping", () => ({ body: { status: "OK" } })],
    ["GET", "config/client", () => ({ body: world.config })],
    ["GET", "users/(me|[a-z0-9]{26})", ({ user, params: [id] }) => ({ body: userShown(userFor(id, user)) })],
    [
      "GET",
      "users/username/([a-z0-9._-]+)",
      ({ params: [name] }) => {
        const found = [...world.users.values()].find(({ username }) => username === name);
        if (found === undefined) throw new AppError("app.user.get_by_username.app_error", 404);
        return { body: userShown(found) };
      },
    ],
    [
      "POST",
      "users/ids",
      ({ body }) => {
        if (!Array.isArray(body) || body.length === 0)
          throw new AppError("api.context.invalid_body_param.app_error", 400);
        return {
          body: body.flatMap((id) => (world.users.has(id) ? [userShown(userFor(id, userFor(id, {} as User)))] : [])),
        };
      },
    ],
    ["GET", "users/me/teams", ({ user }) => ({ body: isInTeam(user) ? [world.team] : [] })],
    [
      "GET",
      `users/(me|[a-z0-9]{26})/channels`,
      ({ user }) => ({
        body: [...world.channels.values()].filter(({ members }) => members.has(user.id)).map(channelShown),
      }),
    ],
    [
      "POST",
      "users/me/typing",
      ({ user, body }) => {
        const channel = world.channelFor(String(fields(body).channel_id), user);
        onTyping(user, channel.id);
        return { body: { status: "OK" } };
      },
    ],
    [
      "DELETE",
      `users/(?:me|[a-z0-9]{26})/posts/${idForm}/reactions/([a-z0-9+_-]+)`,
      ({ user, params: [post = "", emoji = ""] }) => {
        posts.unreact(post, emoji, user);
        return { body: { status: "OK" } };
      },
    ],
    [
      "GET",
      `channels/${idForm}`,
      ({ user, params: [id = ""] }) => ({ body: channelShown(world.channelFor(id, user)) }),
    ],
    [
      "GET",
      `channels/${idForm}/members/(me|[a-z0-9]{26})`,
      ({ user, params: [id = "", member] }) => {
        const channel = world.channelFor(id, user);
        const { id: person } = userFor(member, user);
        if (!channel.members.has(person)) throw new AppError("app.channel.get_member.missing.app_error", 404);
        return { body: { channel_id: id, user_id: person, roles: "channel_user" } };
      },
    ],
    [
      "GET",
      `channels/${idForm}/posts`,
      ({ user, params: [id = ""], query }) => {
        world.channelFor(id, user);
        const since = query.get("since");
        if (since !== null && !/^\d+$/.test(since)) throw new AppError("api.context.invalid_param.app_error", 400);
        if (Number(since ?? 0) > 0) return { body: posts.since(id, Number(since)) };
        const size = Math.min(200, Number(query.get("per_page") ?? 60));
        return { body: posts.page(id, Number(query.get("page") ?? 0), size) };
      },
    ],
    [
      "POST",
      "channels/direct",
      ({ user, body }) => {
        const ids = Array.isArray(body) ? body.map(String) : [];
        if (ids.length !== 2) throw new AppError("api.context.invalid_body_param.app_error", 400);
        if (!ids.includes(user.id)) throw new AppError("api.context.permissions.app_error", 403);
        const [one, other] = ids.map((id) => world.users.get(id));
        if (one === undefined || other === undefined)
          throw new AppError("api.channel.create_direct_channel.invalid_user.app_error", 400);
        return { status: 201, body: channelShown(world.direct(one, other)) };
      },
    ],
    [
      "GET",
      "teams/name/([a-z0-9_-]+)/channels/name/([a-z0-9._-]+)",
      ({ user, params: [team, name] }) => {
        if (team !== world.team.name) throw new AppError("app.team.get_by_name.missing.app_error", 404);
        const channel = [...world.channels.values()].find((each) => each.name === name);
        if (channel === undefined) throw new AppError("app.channel.get_by_name.missing.app_error", 404);
        return { body: channelShown(world.channelFor(channel.id, user)) };
      },
    ],
    [
      "GET",
      "roles/name/([a-z_]+)",
      ({ params: [name = ""] }) => {
        if (!world.roles.has(name)) throw new AppError("app.role.get_by_name.app_error", 404);
        return { body: { name, permissions: world.roles.get(name) } };
      },
    ],
    ["POST", "posts", ({ user, body }) => ({ status: 201, body: posts.shown(posts.create(fields(body), user)) })],
    [
      "POST",
      "posts/ephemeral",
      ({ user, body }) => {
        const { user_id, post } = fields(body);
        if (typeof user_id !== "string" || user_id === "" || typeof post !== "object" || post === null)
          throw new AppError("api.context.invalid_body_param.app_error", 400);
        const may = user.roles.split(" ").some((role) => world.roles.get(role)?.includes("create_post_ephemeral"));
        if (!may) throw new AppError("api.context.permissions.app_error", 403);
        const at = world.time();
        const shown = { ...post, id: world.newId(), user_id: user.id, type: "system_ephemeral", create_at: at };
        ephemeral(user_id, shown);
        return { status: 201, body: shown };
      },
    ],
    ["GET", `posts/${idForm}`, ({ user, params: [id = ""] }) => ({ body: posts.shown(world.postFor(id, user)) })],
    [
      "PUT",
      `posts/${idForm}/patch`,
      ({ user, params: [id = ""], body }) => ({ body: posts.shown(posts.patch(id, fields(body), user)) }),
    ],
    [
      "DELETE",
      `posts/${idForm}`,
      ({ user, params: [id = ""] }) => {
        posts.remove(id, user);
        return { body: { status: "OK" } };
      },
    ],
    [
      "GET",
      `posts/${idForm}/reactions`,
      ({ user, params: [id = ""] }) => {
        world.postFor(id, user);
        const found = world.reactions.filter(({ post_id }) => post_id === id);
        // The server has null for an empty list.
        return { body: found.length === 0 ? null : found };
      },
    ],
    ["POST", "reactions", ({ user, body }) => ({ status: 201, body: posts.react(fields(body), user) })],
    [
      "POST",
      `posts/${idForm}/actions/([A-Za-z0-9]+)`,
      async ({ user, params: [post = "", action = ""] }) => await press(user, post, action),
    ],
    ["POST", "files", storeFiles],
    [
      "GET",
      `files/${idForm}`,
      ({ user, params: [id = ""] }) => {
        const file = world.files.get(id);
        if (file === undefined) throw new AppError("app.file_info.get.app_error", 404);
        world.channelFor(file.channel_id, user);
        return { bytes: file.bytes };
      },
    ],
  ];
  const isInTeam = ({ id }: User) =>
    [...world.channels.values()].some(({ members, team_id }) => members.has(id) && team_id !== "");
  const compiled = table.map(([method, path, handler]) => ({ method, form: new RegExp(`^${path}$`), handler }));
  return (method, path) => {
    for (const { method: own, form, handler } of compiled) {
      const match = own === method ? form.exec(path) : null;
      if (match !== null) return { handler, params: match.slice(1) };
    }
    return undefined;
  };
}
