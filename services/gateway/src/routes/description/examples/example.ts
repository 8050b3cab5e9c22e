/** An example of a request body. */
interface RequestExample {
  /** What the request does, as a phrase. */
  readonly summary: string;
  readonly value: object;
}

/** The examples of the requests and answers of one operation in the API description. */
export interface OperationExamples {
  /** Examples of request bodies by name. */
  readonly requests?: Readonly<Record<string, RequestExample>>;
  /** Examples of successful answers by status. */
  readonly answers?: Readonly<Record<number, object>>;
}
