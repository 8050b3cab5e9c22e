/** Why a request to an address that a customer named has no answer. */
export type OutboundFailure =
  /** No http(s) address, or one with a user name in it. */
  | "url_invalid"
  /** A literal, or one of the addresses of the name, is not public. */
  | "address_not_allowed"
  /** The name has no address, nobody accepts the connection in time, or TLS fails: no byte was sent. */
  | "unreachable"
  /** The connection broke, or what came is no HTTP. */
  | "broken"
  /** The time for the whole exchange is over. */
  | "timed_out"
  /** One more redirect than is followed, or one from https to http, or to no address. */
  | "redirect_refused"
  /** More bytes than `maxBytes`. */
  | "too_large";

/**
 * A name that leads to a private address reads like one that nobody answers at: the words go to people who must not
 * learn what stands in our network.
 */
const WORDS = {
  url_invalid: "this is no http or https address",
  address_not_allowed: "the address cannot be reached",
  unreachable: "the address cannot be reached",
  broken: "the connection broke before the answer was complete",
  timed_out: "the answer was not complete in time",
  redirect_refused: "the address redirects too often or to where we do not follow",
  too_large: "the answer is too long",
} satisfies Record<OutboundFailure, string>;

/** What the outbound client throws. Its message is for people and holds nothing of the address, the network or a library. */
export class OutboundError extends Error {
  override name = "OutboundError";
  readonly failure: OutboundFailure;

  constructor(failure: OutboundFailure, options: { readonly cause?: unknown } = {}) {
    super(WORDS[failure], options);
    this.failure = failure;
  }
}
