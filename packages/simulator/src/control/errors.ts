/** The reason why the simulator refuses a control call, with the HTTP status of the response. */
export class ControlError extends Error {
  override name = "ControlError";
  readonly statusCode: number;

  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}
