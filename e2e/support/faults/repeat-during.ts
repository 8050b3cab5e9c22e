/** Repeats a step until `work` has ended. `step` gets the number of earlier repetitions. */
export async function repeatDuring(
  work: Promise<unknown>,
  step: (index: number) => Promise<void>,
): Promise<void> {
  const state = { isWorking: true };
  const ended = work.finally(() => {
    state.isWorking = false;
  });
  for (let index = 0; state.isWorking; index += 1) await step(index);
  await ended;
}
