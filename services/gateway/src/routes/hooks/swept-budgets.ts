import type { FastifyInstance } from "fastify";
import {
  createAddressBudgets,
  type AddressBudgets,
} from "#src/clients/admission/address-budgets.ts";

const SWEEP_MS = 1_000;

/** Budgets of remote addresses that last as long as the server does. */
export function openSweptBudgets(app: FastifyInstance, quota?: number): AddressBudgets {
  const budgets = createAddressBudgets(quota);
  const timer = setInterval(() => budgets.sweep(performance.now()), SWEEP_MS);
  timer.unref();
  app.addHook("onClose", (_app, done) => {
    clearInterval(timer);
    done();
  });
  return budgets;
}
