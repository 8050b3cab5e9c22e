/**
 * For this many days, no action and no run of a comment is removed, however many a workspace has.
 * What is older, and has ended, is safe to forget. A comment gets one private reply for as long as
 * its platform accepts one, which is 7 days after it was written, and the reply is younger than the
 * comment: the next rule finds the comment too old. It finds no comment that was written before at
 * all, so that a removed run is not made again. No call can arrive any more, so the order of hiding
 * and showing needs only actions that have not ended. A search for a lost reply begins at its own
 * call, which is a day old at most, and cannot find a reply that is older. What keeps a comment
 * hidden is not history, and stays.
 */
export const FORGET_AFTER_DAYS = 40;
