/** What tests of mailboxes ask of a server, whether it is a real one or the scripted one. */
export interface MailServer {
  readonly port: number;
  readonly user: string;
  /** The one that the server accepts from now on. */
  password(next?: string): string;
  /** Puts a mail into a folder, byte by byte as it is given, with line ends of the network. */
  deliver(mail: string, folder?: string): Promise<void>;
  /** Ends the connections of the user. */
  kick(): Promise<void>;
  /** Creates a folder again, or for the first time: its mails get other numbers. */
  renew(folder: string, mails: readonly string[]): Promise<void>;
  /** The flags of each mail in a folder, in its order. */
  flags(folder?: string): Promise<readonly (readonly string[])[]>;
  /** The text of each mail in a folder, in its order. */
  mails(folder?: string): Promise<readonly string[]>;
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}
