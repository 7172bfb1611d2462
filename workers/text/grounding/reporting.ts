/** Words with which somebody's speech is reported; who reads back finds none of them in it. */
export const REPORTING: ReadonlySet<string> = new Set(
  `said says say told tell asked asks ask suggested suggests suggest proposed proposes thought thinks
   think believed believes explained explains explain mentioned mentions noted notes stated states
   added adds argued argues agreed agrees wanted wants replied replies answered answers pointed
   reported reports promised promises offered offers claimed claims recommended recommends`.split(
    /\s+/u,
  ),
);

/** Words of minutes about the conversation itself. */
export const SAYS_LITTLE: ReadonlySet<string> = new Set(
  `meeting discussion discussed discuss group team participants participant speaker everybody
   everyone conversation however therefore moreover furthermore finally later firstly secondly
   besides mainly also addition`.split(/\s+/u),
);
