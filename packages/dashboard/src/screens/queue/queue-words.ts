import { queueEn } from "./words-en.ts";
import { queueKo } from "./words-ko.ts";

export const queueWords = { en: queueEn, ko: queueKo };
