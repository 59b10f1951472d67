/**
 * Asks a PostgreSQL server over connections that stay open: opening one for each question costs more than the question.
 */
import pg from "pg";

type Row = Readonly<Record<string, unknown>>;

export interface PostgresClient {
  /** Executes SQL as the user of the address; `$schema` is the schema of the address. */
  query(url: string, sql: string): Promise<readonly Row[]>;
  /** Closes the connections that no question uses. */
  rest(): void;
}

export function createPostgresClient(): PostgresClient {
  /** One for each address. Questions at the same time have a connection each, because one may wait for the other. */
  const idle = new Map<string, pg.Client>();
  async function connect(address: string): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: address });
    // A server that stops ends the connection while nothing is asked.
    client.on("error", () => {});
    client.once("end", () => {
      if (idle.get(address) === client) idle.delete(address);
    });
    await client.connect();
    return client;
  }
  return {
    async query(url, sql) {
      const { searchParams } = new URL(url);
      const [address = ""] = url.split("?");
      const open = idle.get(address);
      idle.delete(address);
      const client = open ?? (await connect(address));
      try {
        const { rows } = await client.query(sql.replaceAll("$schema", searchParams.get("schema") ?? ""));
        if (idle.has(address)) await client.end();
        else idle.set(address, client);
        return rows;
      } catch (error) {
        await client.end();
        throw error;
      }
    },
    rest() {
      for (const client of idle.values()) void client.end();
      idle.clear();
    },
  };
}
