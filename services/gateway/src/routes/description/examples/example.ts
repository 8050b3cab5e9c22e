/** An example of a request body in the API description. */
interface RequestExample {
  /** What the example request does, as a phrase. */
  readonly summary: string;
  readonly value: object;
}

/** The examples of the requests and answers of one operation in the API description. */
export interface OperationExamples {
  /** Examples of the operation's request bodies, by the names of the examples. */
  readonly requests?: Readonly<Record<string, RequestExample>>;
  /** Examples of the operation's successful answers, by HTTP status. */
  readonly answers?: Readonly<Record<number, object>>;
}
