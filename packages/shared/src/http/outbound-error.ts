/** Why a request to a customer's URL failed. */
export type OutboundFailure =
  /** The customer's URL is not an http(s) URL, or it contains a user name. */
  | "url_invalid"
  /** The IP address in the customer's URL, or one of the addresses of its host name, is not public. */
  | "address_not_allowed"
  /**
   * The customer's host name has no address, the host does not accept the connection in time, or TLS fails. Nothing was
   * sent.
   */
  | "unreachable"
  /** The connection to the customer's host broke, or the response is not HTTP. */
  | "broken"
  /** The HTTP exchange with the customer's host exceeded its deadline. */
  | "timed_out"
  /**
   * The customer's host sent too many redirects, a redirect from https to http, or a redirect to a target that is not
   * an http(s) URL.
   */
  | "redirect_refused"
  /** The response body of the customer's host has more than `maxBytes` bytes. */
  | "too_large";

/**
 * A host name with a private address gets the same message as a host that does not answer: customers read these
 * messages and must not learn what exists in our network.
 */
const MESSAGES = {
  url_invalid: "this is not an http or https URL",
  address_not_allowed: "the address cannot be reached",
  unreachable: "the address cannot be reached",
  broken: "the connection broke before the answer was complete",
  timed_out: "the answer was not complete in time",
  redirect_refused: "the address redirects too often, or to a target that is not followed",
  too_large: "the answer is too long",
} satisfies Record<OutboundFailure, string>;

/**
 * The error of the outbound HTTP client. Its message is for customers and contains no address, network or library
 * details.
 */
export class OutboundError extends Error {
  override name = "OutboundError";
  readonly failure: OutboundFailure;
  /**
   * Whether the DNS told the address. A customer must not learn which names exist in our network, so such an address is
   * answered like a name without an address.
   */
  readonly isResolved: boolean;

  constructor(
    failure: OutboundFailure,
    {
      isResolved = false,
      ...options
    }: { readonly cause?: unknown; readonly isResolved?: boolean } = {},
  ) {
    super(MESSAGES[failure], options);
    this.failure = failure;
    this.isResolved = isResolved;
  }
}
