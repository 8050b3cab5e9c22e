import { calendarEn } from "./words-en.ts";
import { calendarKo } from "./words-ko.ts";

export const calendarWords = { en: calendarEn, ko: calendarKo };
