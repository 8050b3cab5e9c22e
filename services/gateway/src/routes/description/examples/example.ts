/**
 * The ids in the examples of the API description. The example account, and each other example
 * resource, has the same id in all examples.
 */
export const EXAMPLE_IDS = {
  account: "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1a",
  otherAccount: "01a18f2e-5b1c-7d3e-8a4f-6b7c8d9e0f1b",
  media: "01a19c11-2d4e-7f60-9182-a3b4c5d6e7f8",
  post: "01a1a1b4-3c5d-7e6f-8091-a2b3c4d5e6f7",
  target: "01a1a1b4-3c5e-7102-9324-b5c6d7e8f901",
  queueSlotRule: "01a19b20-6d5e-7c4b-8a39-281706f5e4d3",
  webhook: "01a19000-1111-7222-8333-444455556666",
  delivery: "01a1a1c2-1b4c-7d5e-8f60-718293a4b5c6",
  rule: "01a19d00-4a5b-7c6d-8e7f-8091a2b3c4d5",
} as const;

interface RequestExample {
  /** What the example request does, as a phrase. */
  readonly summary: string;
  readonly value: object;
}

export interface OperationExamples {
  readonly requests?: Readonly<Record<string, RequestExample>>;
  /** Examples of the operation's successful answers, by HTTP status. */
  readonly answers?: Readonly<Record<number, object>>;
}
