import type { ServerResponse } from "node:http";
import type { Hint } from "@postrider/contracts/delivery/v1/hint_service_pb";
import {
  DASHBOARD_EVENT_TYPES,
  type DashboardEvent,
  type DashboardEventType,
} from "@postrider/rest/dashboard/events";
import { CHECK_KEY_MS } from "#src/admission/admission-result.ts";
import { RESYNC, WorkspaceHints } from "#src/routes/dashboard/hint-pace.ts";

/** Bounds on open streams, each of which holds a connection. */
export interface StreamLimits {
  /** Fewer than the six connections that a browser opens to one host over HTTP/1.1. */
  readonly perSession: number;
  readonly perWorkspace: number;
  readonly perProcess: number;
  /** A page that leaves more bytes unread is cut off, and connects again. */
  readonly maxUnreadBytes: number;
  readonly heartbeatMs: number;
  /** How often the sessions are checked, all at the same moment: one call asks about many. */
  readonly checkMs: number;
  /** How long hints are gathered before they are sent. */
  readonly gatherMs: number;
}

export const STREAM_LIMITS: StreamLimits = {
  perSession: 4,
  perWorkspace: 200,
  perProcess: 1_000,
  maxUnreadBytes: 64 * 1024,
  heartbeatMs: 25_000,
  checkMs: CHECK_KEY_MS,
  gatherMs: 100,
};

export interface OpenStream {
  readonly workspaceId: string;
  readonly sessionId: string;
  /** Whether its session is over. */
  readonly hasEnded: () => Promise<boolean>;
  readonly response: Pick<
    ServerResponse,
    "write" | "end" | "destroy" | "writableLength" | "destroyed"
  >;
}

function toText(events: readonly DashboardEvent[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}

/** The open streams of this process. A text is made once for all streams of a workspace. */
export class EventStreams {
  readonly #limits: StreamLimits;
  readonly #onWorkspaces: (workspaceIds: ReadonlySet<string>) => void;
  readonly #streams = new Map<string, Set<OpenStream>>();
  readonly #hints = new Map<string, WorkspaceHints>();
  #timers: readonly NodeJS.Timeout[] = [];
  #count = 0;

  /** @param onWorkspaces Called with the workspaces that have streams when these change. */
  constructor(limits: StreamLimits, onWorkspaces: (workspaceIds: ReadonlySet<string>) => void) {
    this.#limits = limits;
    this.#onWorkspaces = onWorkspaces;
  }

  /**
   * Whether another stream may be opened. When the process has no more, a workspace with fewer
   * streams gets one of the workspace with the most: some workspaces cannot take all.
   */
  hasRoom({ workspaceId, sessionId }: Pick<OpenStream, "workspaceId" | "sessionId">): boolean {
    const { perSession, perWorkspace } = this.#limits;
    const own = [...(this.#streams.get(workspaceId) ?? [])];
    const ofSession = own.filter((stream) => stream.sessionId === sessionId).length;
    if (own.length >= perWorkspace || ofSession >= perSession) return false;
    return !this.#isFull() || own.length + 1 < this.#most().length;
  }

  add(stream: OpenStream): void {
    if (this.#isFull())
      this.#most()
        .slice(0, 1)
        .forEach((oldest) => this.end(oldest));
    const known = this.#streams.get(stream.workspaceId);
    const streams = known ?? new Set();
    this.#streams.set(stream.workspaceId, streams.add(stream));
    this.#count += 1;
    if (this.#timers.length === 0) this.#startTimers();
    if (known === undefined) this.#tellWorkspaces();
    this.#write(stream, `retry: 3000\n\n${toText([RESYNC])}`);
  }

  remove(stream: OpenStream): void {
    const streams = this.#streams.get(stream.workspaceId);
    if (streams?.delete(stream) !== true) return;
    this.#count -= 1;
    if (streams.size > 0) return;
    this.#streams.delete(stream.workspaceId);
    this.#hints.get(stream.workspaceId)?.stop();
    this.#hints.delete(stream.workspaceId);
    this.#tellWorkspaces();
    if (this.#count > 0) return;
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
  }

  /** Does nothing for a workspace without streams. */
  send(workspaceId: string, event: DashboardEvent): void {
    if (!this.#streams.has(workspaceId)) return;
    const known = this.#hints.get(workspaceId);
    const hints =
      known ??
      new WorkspaceHints(this.#limits.gatherMs, (events) => this.#sendNow(workspaceId, events));
    if (known === undefined) this.#hints.set(workspaceId, hints);
    hints.add(event);
  }

  sendHints(hints: readonly Hint[]): void {
    for (const { workspaceId, type, id, postId } of hints) {
      const known = DASHBOARD_EVENT_TYPES.find((each): each is DashboardEventType => each === type);
      const ofPost = postId === "" ? {} : { postId };
      if (known !== undefined)
        this.send(workspaceId, { type: known, id: id === "" ? null : id, ...ofPost });
    }
  }

  sendResync(workspaceIds: Iterable<string>): void {
    for (const workspaceId of workspaceIds) this.send(workspaceId, RESYNC);
  }

  endAll(): void {
    for (const stream of [...this.#streams.values()].flatMap((each) => [...each])) this.end(stream);
  }

  /** The end of a page that does not read would otherwise wait with its connection for ever. */
  end(stream: OpenStream): void {
    this.remove(stream);
    stream.response.end();
    if (stream.response.writableLength > 0) stream.response.destroy();
  }

  #isFull(): boolean {
    return this.#count >= this.#limits.perProcess;
  }

  /** The streams of the workspace that has the most, oldest first. */
  #most(): readonly OpenStream[] {
    const most = [...this.#streams.values()].reduce(
      (most, streams) => (streams.size > most.size ? streams : most),
      new Set<OpenStream>(),
    );
    return [...most];
  }

  #sendNow(workspaceId: string, events: readonly DashboardEvent[]): void {
    const text = toText(events);
    for (const stream of this.#streams.get(workspaceId) ?? []) this.#write(stream, text);
  }

  #startTimers(): void {
    const { heartbeatMs, checkMs } = this.#limits;
    this.#timers = [
      setInterval(() => this.#sendHeartbeats(), heartbeatMs),
      setInterval(() => this.#endThoseOver(), checkMs).unref(),
    ];
  }

  #endThoseOver(): void {
    for (const streams of this.#streams.values())
      for (const stream of streams)
        void stream.hasEnded().then((isOver) => isOver && this.end(stream));
  }

  #sendHeartbeats(): void {
    for (const streams of this.#streams.values())
      for (const stream of streams) this.#write(stream, ": heartbeat\n\n");
  }

  #write(stream: OpenStream, text: string): void {
    const { response } = stream;
    if (response.destroyed || response.writableLength > this.#limits.maxUnreadBytes) {
      this.remove(stream);
      response.destroy();
      return;
    }
    response.write(text);
  }

  #tellWorkspaces(): void {
    this.#onWorkspaces(new Set(this.#streams.keys()));
  }
}
