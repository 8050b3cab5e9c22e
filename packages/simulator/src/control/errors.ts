/** The reason why a control call is refused, with the status of its answer. */
export class ControlError extends Error {
  override name = "ControlError";
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}
