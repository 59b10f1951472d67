/** The numbers of the server's events: a number that does not follow means that events are missing. */
import { ChannelError } from "service-gateway/sdk/channel";
import { type Fields, number, record, text } from "../fields.ts";

/** Where a later connection goes on, so that the server sends what was lost with the one before. */
export interface Resume {
  connectionId: string;
  /** The number of the next event. */
  next: number;
}

/** Counts an event. Returns the fault if events before it are missing. */
export function countEvent(event: Fields, resume: Resume): ChannelError | undefined {
  const sequence = number(event.seq);
  const connection = text(record(event.data).connection_id);
  if (event.event === "hello" && connection !== resume.connectionId) {
    resume.connectionId = connection;
    resume.next = sequence;
  }
  if (sequence === resume.next) {
    resume.next += 1;
    return undefined;
  }
  // What is missing is fetched over REST; a connection that goes on here would miss it as well.
  resume.connectionId = "";
  resume.next = 0;
  const detail = `The event ${sequence} does not follow the one before`;
  return new ChannelError("events_missed", { retryable: true, detail });
}
