import type { QueueSlotRule } from "@postrider/client";
import { beforeAll, describe, expect, test } from "vitest";
import { loadTemporal } from "../time/load-temporal.ts";
import { nextShift } from "./clock-shift.ts";
import { proposeTime, queueSlots } from "./queue-slots.ts";

beforeAll(loadTemporal);

function ruleOf(fields: Partial<QueueSlotRule> = {}): QueueSlotRule {
  return {
    id: "r1",
    name: "Mornings",
    weekdays: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
    times: ["09:30"],
    timezone: "Europe/Berlin",
    startsOn: null,
    endsOn: null,
    status: "active",
    nextSlots: [],
    createdAt: "2026-01-01T00:00:00.000Z",
    updatedAt: "2026-01-01T00:00:00.000Z",
    ...fields,
  };
}

function timesOf(rules: readonly QueueSlotRule[], from: string, to: string): readonly string[] {
  return queueSlots(rules, Date.parse(from), Date.parse(to)).map(({ ms }) =>
    new Date(ms).toISOString().slice(0, 16),
  );
}

describe("the slots of rules", () => {
  test("keep the local time of the rule across a change of the clocks", () => {
    expect(timesOf([ruleOf()], "2027-03-27T00:00Z", "2027-03-30T00:00Z")).toEqual([
      "2027-03-27T08:30",
      "2027-03-28T07:30",
      "2027-03-29T07:30",
    ]);
  });

  test("move to the change where it skips their time, and come once where it comes twice", () => {
    const rule = ruleOf({ times: ["02:30"] });
    expect(timesOf([rule], "2027-03-27T12:00Z", "2027-03-28T12:00Z")).toEqual(["2027-03-28T01:00"]);
    expect(timesOf([rule], "2026-10-24T12:00Z", "2026-10-25T12:00Z")).toEqual(["2026-10-25T00:30"]);
    const santiago = ruleOf({ times: ["00:30"], timezone: "America/Santiago" });
    expect(timesOf([santiago], "2026-09-06T03:00Z", "2026-09-06T12:00Z")).toEqual([
      "2026-09-06T04:00",
    ]);
  });

  test("hold on their weekdays between their first and last date only", () => {
    const rule = ruleOf({ weekdays: ["tue", "wed"], startsOn: "2026-11-25", endsOn: "2026-12-01" });
    expect(timesOf([rule], "2026-11-23T00:00Z", "2026-12-12T00:00Z")).toEqual([
      "2026-11-25T08:30",
      "2026-12-01T08:30",
    ]);
  });

  test("belong to the oldest of several rules, and a paused rule has none", () => {
    const younger = ruleOf({ id: "r2", createdAt: "2026-02-01T00:00:00.000Z" });
    const paused = ruleOf({ id: "r3", status: "paused", times: ["10:00"] });
    const slots = queueSlots(
      [younger, paused, ruleOf()],
      Date.parse("2026-11-24T00:00Z"),
      Date.parse("2026-11-25T00:00Z"),
    );
    expect(slots).toEqual([{ ms: Date.parse("2026-11-24T08:30Z"), ruleId: "r1" }]);
  });
});

describe("a click on a day proposes", () => {
  const now = () => Temporal.ZonedDateTime.from("2026-11-24T14:05[Asia/Seoul]");
  const rule = ruleOf({ times: ["09:30", "18:00"], timezone: "Asia/Seoul" });
  const propose = (day: string, taken: readonly string[] = [], rules = [rule]) =>
    proposeTime(
      rules,
      new Set(taken.map((at) => Date.parse(at))),
      Temporal.PlainDate.from(day),
      now(),
    )
      ?.toPlainDateTime()
      .toString();

  test("its next free queue slot", () => {
    expect(propose("2026-11-24")).toBe("2026-11-24T18:00:00");
    expect(propose("2026-11-25")).toBe("2026-11-25T09:30:00");
    expect(propose("2026-11-25", ["2026-11-25T00:30Z"])).toBe("2026-11-25T18:00:00");
  });

  test("else the next full hour", () => {
    expect(propose("2026-11-24", ["2026-11-24T09:00Z"])).toBe("2026-11-24T15:00:00");
    expect(propose("2026-11-29", [], [])).toBe("2026-11-29T15:00:00");
  });

  test("nothing on a day that is over", () => {
    expect(propose("2026-11-23")).toBeUndefined();
  });
});

describe("the next change of clocks that shifts a rule for its reader", () => {
  const now = () => Temporal.Instant.from("2026-11-24T05:05Z");
  const shift = (timezone: string, zone: string) => {
    const found = nextShift({ timezone, times: ["18:00", "09:30"] }, zone, now());
    return (
      found && [
        found.zone,
        found.at.toPlainDate().toString(),
        found.before.toPlainTime().toString(),
        found.after.toPlainTime().toString(),
      ]
    );
  };

  test("is that of the rule's zone, or that of the reader's", () => {
    const berlin = ["Europe/Berlin", "2027-03-28"];
    expect(shift("Europe/Berlin", "Asia/Seoul")).toEqual([...berlin, "17:30:00", "16:30:00"]);
    expect(shift("Asia/Seoul", "Europe/Berlin")).toEqual([...berlin, "01:30:00", "02:30:00"]);
  });

  test("is missing where both change together or never", () => {
    expect(shift("Europe/Berlin", "Europe/Paris")).toBeUndefined();
    expect(shift("Asia/Seoul", "Asia/Tokyo")).toBeUndefined();
  });
});
