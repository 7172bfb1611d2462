import { describe, expect, it } from "vitest";
import { polish } from "../../../../../workers/text/language/polish.ts";
import { findDuePhrase } from "../../../../../workers/text/summary/action-items.ts";
import { saidBy, summariseText } from "../../../../support/summarise-text.ts";

const TYPES = [
  "brief",
  "detailed",
  "action_items",
  "decisions",
  "topics",
  "open_questions",
  "speakers",
];

const MEETING = saidBy(
  ["Anna", "hello everyone today we will talk about the launch of the new system"],
  ["Ben", "the team finished their work on friday"],
  ["Ben", "we did not find any big problems"],
  [
    "Alan",
    "that is very good news will we be ready to open our new shop in the first week of march",
  ],
  ["Anna", "yes we will we decided to start on monday the second of march"],
  ["Ben", "then i will write to all of our customers before the end of this month"],
  ["Alan", "and i will talk to the people in new york about the price"],
  ["Anna", "we need to see the final report by wednesday"],
  ["Ben", "yes you will have the report on wednesday morning"],
  ["Alan", "we have made the decision thank you all for your time"],
);

/** In it nothing is left open, so that one line more does. */
const meetingFor = (type: string) =>
  type === "open_questions"
    ? [
        ...MEETING,
        ...saidBy(["Anna", "we still need to find out what the lawyers say about it"]).map(
          (segment) => ({ ...segment, id: `segment-${MEETING.length}` }),
        ),
      ]
    : MEETING;

/** A long meeting about two things, one after the other. */
const LONG = saidBy(
  ...Array.from({ length: 60 }, (_, n): [string, string] => [
    n % 2 === 0 ? "Anna" : "Ben",
    n < 30
      ? `The engine of the train number ${n} needs new brakes and stronger wheels.`
      : `The garden of house number ${n} grows red roses and yellow tulips.`,
  ]),
);

const words = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

describe("summary: every type", () => {
  it.each(TYPES)("%s: points at segments that are there, equal each time", (type) => {
    const meeting = meetingFor(type);
    const ids = new Set(meeting.map(({ id }) => id));
    const summary = summariseText(type, meeting);
    expect(summary.items.length).toBeGreaterThan(0);
    for (const { segmentIds } of summary.items) {
      expect(segmentIds.length).toBeGreaterThan(0);
      for (const id of segmentIds) expect(ids).toContain(id);
    }
    expect(summariseText(type, meeting)).toEqual(summary);
  });

  it.each(TYPES)("%s: says honestly when there is nothing", (type) => {
    expect(summariseText(type, [])).toMatchObject({ text: "Nothing was said.", items: [] });
    expect(summariseText(type, saidBy(["S1", " "]))).toMatchObject({ items: [] });
    expect(summariseText(type, saidBy(["S1", "yes"])).text).not.toBe("");
  });

  it.each(TYPES)("%s: progress rises from 0 and never goes back", (type) => {
    const { fractions } = summariseText(type, LONG);
    expect(fractions[0]).toBe(0);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    expect(fractions.at(-1)).toBeLessThanOrEqual(1);
  });

  it("invents no word in what it quotes", () => {
    for (const type of ["brief", "detailed", "action_items", "decisions", "open_questions"]) {
      const said = new Set(
        words(
          meetingFor(type)
            .map(({ text }) => text)
            .join(" "),
        ),
      );
      for (const { text } of summariseText(type, meetingFor(type)).items) {
        for (const word of words(text)) expect(said).toContain(word);
      }
    }
  });

  it("has no section in words of its own where none is wanted", () => {
    expect(summariseText("custom_sections", MEETING)).toMatchObject({
      ...{ text: "The template has no sections in words of its own.", items: [] },
    });
  });

  it("refuses a type that is none, and bytes that are no request", () => {
    expect(() => summariseText("poem", MEETING)).toThrow(/no summary type/);
  });
});

describe("summary: brief and detailed", () => {
  it("brief has three to five sentences in order", () => {
    expect(summariseText("brief", MEETING).items).toHaveLength(3);
    const long = summariseText("brief", LONG).items.map(({ segmentIds }) => segmentIds[0]);
    expect(long.length).toBeGreaterThanOrEqual(3);
    expect(long.length).toBeLessThanOrEqual(5);
  });

  it("brief quotes no running of the sitting where something else was said", () => {
    const said = saidBy(
      ["Chair", "I ask honourable members to direct their questions through the chair."],
      ["Chair", "I remind all members to address their remarks to the chair of the committee."],
      ["Anna", "The seniors of the homes need more care and better food."],
      ["Ben", "The homes of the seniors get money for care from the province."],
      ["Anna", "The province pays for the food in the homes of seniors."],
    );
    expect(summariseText("brief", said).items.map(({ speaker }) => speaker)).not.toContain("Chair");
  });

  it.each(["brief", "detailed"])("%s quotes what reads by itself before what does not", (type) => {
    const told = [
      "The committee wants a plastic case with a touch screen.",
      "We need a paging function for the touch screen of the remote control.",
      "The face plates of the remote control are made of plastic.",
    ];
    const broken = [
      "The idea of a paging function, a touch screen, and face plates of plastic.",
      "With a touch screen and a plastic case on the remote control?",
      "The thing with I see would there not be a touch screen on the remote control.",
      "Because of the plastic case and the touch screen and the paging function and the…",
    ];
    const said = saidBy(
      ...told.flatMap((each, at): [string, string][] => [
        ["Anna", broken[at] ?? ""],
        ["Anna", each],
      ]),
      ["Anna", broken[3] ?? ""],
    );
    const chosen = summariseText(type, said).items.map(({ text }) => text);
    for (const each of told) expect(chosen).toContain(each);
    if (type === "brief") expect(chosen).toEqual(told);
  });

  it("detailed cuts where the topic shifts and takes about a fifth", () => {
    const { items, text } = summariseText("detailed", LONG);
    expect(items.length).toBeGreaterThanOrEqual(8);
    expect(items.length).toBeLessThanOrEqual(20);
    const sections = [...new Set(items.map(({ section }) => section ?? ""))];
    expect(sections.length).toBeGreaterThan(1);
    expect(sections.at(-1)).toMatch(/^\d\d:\d\d .*(?:rose|tulip|garden|house|grow)/);
    for (const section of sections) expect(text).toContain(section);
  });
});

describe("summary: action items and decisions", () => {
  it("names who will do what by when", () => {
    const { items } = summariseText("action_items", MEETING);
    expect(items.map(({ owner, due }) => ({ owner, due }))).toEqual([
      { owner: "Ben", due: "before the end of this month" },
      { owner: "Alan", due: undefined },
      { owner: "everybody", due: "by wednesday" },
      { owner: "Ben", due: "on wednesday morning" },
    ]);
  });

  it("takes the one who is named, and no question, agenda or condition", () => {
    const { items } = summariseText(
      "action_items",
      saidBy(
        ["Anna", "Ben will send the invoice to the bank tomorrow."],
        ["Ben", "Will I send the second invoice too?"],
        ["Ben", "I will say one thing about invoices."],
        ["Anna", "Tell me if you will send it next week."],
      ),
    );
    expect(items.map(({ owner, due }) => ({ owner, due }))).toEqual([
      { owner: "Ben", due: "tomorrow" },
    ]);
  });

  it("takes no running of the meeting, no question for words and no promise of others", () => {
    const said = saidBy(
      ["Anna", "We'll move on to the second item of the agenda."],
      ["Anna", "I'm gonna turn over to the industrial designer for his presentation."],
      ["Ben", "Can you explain the approach to the new allocations?"],
      ["Ben", "How much better can you make the old printer?"],
      ["Ben", "When can you bring the old printer?"],
      ["Ben", "They told us we will do all that is possible about the network."],
      ["Anna", "I'm gonna save a copy of this for the folder."],
      ["Anna", "I'm gonna save a copy of the minutes in the shared folder."],
      ["Anna", "Could you send the remit letter to the sector?"],
    );
    expect(summariseText("action_items", said).items.map(({ text }) => text)).toEqual([
      "I'm gonna save a copy of the minutes in the shared folder.",
      "Could you send the remit letter to the sector?",
    ]);
  });

  it("takes nothing that is done by saying so, and no attitude", () => {
    const said = saidBy(
      ["Chair", "We will now proceed to statements by members."],
      ["Chair", "We will now give the floor to the member from Manicouagan."],
      ["Anna", "I will remind her of the emissions of the old factory."],
      ["Anna", "We will always uphold the laws of the country."],
      ["Anna", "I would use the time that I have to highlight the work of the community."],
      ["Anna", "I think we will all agree that support for businesses is crucial."],
      ["Ben", "I'm wondering where we're going to get all those masks."],
      ["Ben", "I will send the masks to the old factory."],
    );
    expect(summariseText("action_items", said).items.map(({ text }) => text)).toEqual([
      "I will send the masks to the old factory.",
    ]);
  });

  it("takes no rhetoric, no talk that follows at once, and no mark", () => {
    const said = saidBy(
      ["Chair", "I will sadly report that the town of Pickering had the largest number of deaths."],
      ["Anna", "Let me ask my question to the Minister of Finance once more."],
      ["Anna", "Let me be clear: in everything we do, we will target companies and not workers."],
      ["Ben", "I want to assure the member that we're going to support businesses and workers."],
      ["Ben", "We need to fix the old homes, and we will do that together."],
      ["Ben", "I should mention something about the Linux machine in the office."],
      ["Carl", "Now I'll briefly describe the working design of the remote control."],
      ["Carl", "With the way it looks, I will give it a two."],
      ["Carl", "Can you just remind me when the box is ticked?"],
      ["Anna", "I'll describe the new design to the customer in Hamburg."],
      ["Anna", "Can you remind me to call the customer?"],
      ["Ben", "I can assure you that we will send the masks by Friday."],
    );
    expect(summariseText("action_items", said).items.map(({ text }) => text)).toEqual([
      "I'll describe the new design to the customer in Hamburg.",
      "Can you remind me to call the customer?",
      "I can assure you that we will send the masks by Friday.",
    ]);
  });

  it("takes what was begun twice in one breath once", () => {
    const said = saidBy([
      "Anna",
      "I'm gonna save th a copy of this in case you guys need any reminders. I'm gonna save a copy of this and the minutes in the shared folder for later reference.",
    ]);
    expect(summariseText("action_items", said).items.map(({ text }) => text)).toEqual([
      "I'm gonna save a copy of this and the minutes in the shared folder for later reference.",
    ]);
  });

  it("a decision is taken by those who speak, and no approval that they refer to", () => {
    const said = saidBy(
      ["Anna", "Announce the positions that have already been approved under the summer program."],
      ["Ben", "The minister approved the sale of the seniors' homes."],
      ["Ben", "The final agreement is going to have to be approved by all members."],
      ["Anna", "We have approved the budget of the summer program."],
      ["Anna", "The sale of the old factory is approved."],
    );
    expect(summariseText("decisions", said).items.map(({ text }) => text)).toEqual([
      "We have approved the budget of the summer program.",
      "The sale of the old factory is approved.",
    ]);
  });

  it("what somebody thinks that all should do is no decision yet", () => {
    const said = saidBy(
      ["Anna", "I think that we should use plastic instead of metal."],
      ["Ben", "We'll yeah let's go for plastic with the company colours."],
    );
    expect(summariseText("decisions", said).items.map(({ text }) => text)).toEqual([
      "Let's go for plastic with the company colours.",
    ]);
  });

  it("finds what was decided, not what was left open", () => {
    const { items } = summariseText("decisions", [
      ...MEETING,
      ...saidBy(
        ["Anna", "We have not decided on the colour of the door."],
        ["Ben", "Did we agree on the colour of the door?"],
      ),
    ]);
    expect(items.map(({ text }) => text)).toEqual([
      "We decided to start on Monday the second of march.",
    ]);
  });

  it("says that cues are English only", () => {
    const german = saidBy(["S1", "Ich werde den Bericht morgen schreiben."]);
    for (const type of ["action_items", "decisions", "topics", "open_questions"]) {
      expect(summariseText(type, german, "de").text).toMatch(/English only.*language is de/);
    }
    expect(summariseText("brief", german, "de").text).toBe(
      "Ich werde den Bericht morgen schreiben.",
    );
  });

  it.each([
    ["I do it by the end of the week", "by the end of the week"],
    ["it is due in two weeks", "in two weeks"],
    ["we meet on Monday, the second of March", "on Monday"],
    ["call me before 5 pm", "before 5 pm"],
    ["there is time", undefined],
  ])("due: %s", (text, due) => {
    expect(findDuePhrase(text)).toBe(due);
  });
});

describe("summary: open questions", () => {
  it("are those that nobody answered, with the reply that left them open", () => {
    const { items } = summariseText(
      "open_questions",
      saidBy(
        ["Anna", "Who is going to pay for the new kitchen?"],
        ["Ben", "I don't know, we have to ask the landlord."],
        ["Anna", "When does the train to Hamburg leave?"],
        ["Ben", "It leaves at nine in the morning."],
        ["Anna", "Can you hear me in the back of the room?"],
        ["Ben", "Not really, no idea why."],
        ["Ben", "Most users don't know how to use the functions of the oven."],
        ["Ben", "It is not clear yet how many guests will come."],
        ["Anna", "Thank you all."],
      ),
    );
    expect(items.map(({ text, speaker, segmentIds }) => ({ text, speaker, segmentIds }))).toEqual([
      {
        text: "Who is going to pay for the new kitchen?",
        speaker: "Anna",
        segmentIds: ["segment-0", "segment-1"],
      },
      {
        text: "It is not clear yet how many guests will come.",
        speaker: "Ben",
        segmentIds: ["segment-7"],
      },
    ]);
  });

  it("are no figures of speech, no running of the meeting and no broken sentences", () => {
    const said = saidBy(
      ["Anna", "I don't know if you read the newspapers yesterday about the tourism sector."],
      ["Anna", "I don't know whether the printer works or not, but it seems like it would."],
      ["Anna", "I don't know whether my next question goes to the Minister of Transport."],
      ["Ben", "I don't know how hard it is from there What you want are the binary labels."],
      ["Ben", "Can I propose that the committee meets in private for the rest?"],
      ["Anna", "I don't know."],
      ["Ben", "The thing would there not be a we'd have to drop the face plates?"],
      ["Anna", "I don't know."],
      ["Ben", "I don't know how many guests will come to the opening."],
      ["Anna", "Thank you all."],
    );
    expect(summariseText("open_questions", said).items.map(({ text }) => text)).toEqual([
      "I don't know how many guests will come to the opening.",
    ]);
  });

  it("the last question of a conversation has no answer", () => {
    const said = saidBy(["Ben", "The offer is here."], ["Anna", "Who will sign the contract?"]);
    const { items } = summariseText("open_questions", said);
    expect(items.map(({ text }) => text)).toEqual(["Who will sign the contract?"]);
  });
});

describe("summary: topics and speakers", () => {
  it("topics are counted and have the time of their first mention", () => {
    const { items } = summariseText("topics", MEETING);
    expect(items[0]).toMatchObject({
      text: "report (2 times, first at 00:28)",
      segmentIds: ["segment-7", "segment-8"],
    });
    expect(items.map(({ text }) => text.split(" (")[0])).toContain("new york");
  });

  it("a topic is written as it was, and what stands for another is none", () => {
    const said = saidBy(
      ["Anna", "You guys know that universities in Wales are the point of this meeting."],
      ["Ben", "Good idea, as Wales has the universities that people like."],
      ["Ben", "My name's late, and y'all know it."],
      ["Anna", "Many people and guys ask for the terms that universities in Wales have."],
    );
    const { items } = summariseText("topics", said);
    expect(items.map(({ text }) => text.split(" (")[0])).toEqual(["universities", "Wales"]);
  });

  it("whom everybody speaks to is no topic, and titles keep their capitals", () => {
    const said = saidBy(
      ["Anna", "Mr. Chair, the pipeline needs a permit."],
      ["Ben", "Mr. Chair, Ms. Falk asked for the pipeline."],
      ["Anna", "Ms. Falk has the permit of the pipeline, Mr. Chair."],
    );
    const names = summariseText("topics", said).items.map(({ text }) => text.split(" (")[0]);
    expect(names).toContain("pipeline");
    expect(names.join()).not.toMatch(/chair|\bms\b/);
  });

  it("a part of the detailed notes is called by what was talked about in it", () => {
    const [part = ""] = summariseText("detailed", LONG).items.map(({ section }) => section);
    expect(part).toMatch(/^00:00 \w/);
    expect(part).not.toMatch(/\b(?:we|will|then|good|many)\b/);
  });

  it("speakers come with their share of the time, most talkative first", () => {
    const { items, text } = summariseText("speakers", MEETING);
    expect(items[0]).toMatchObject({
      text: "Ben spoke 40 % of the time (00:14 in 4 utterances).",
      section: "Ben",
    });
    expect(text.split("\n")).toHaveLength(3);
  });
});

describe("summary: wording", () => {
  it("drops openers and fillers, adds a capital and a stop, and no word", () => {
    expect(polish("and um then i will go on friday", true)).toBe("I will go on Friday.");
    expect(polish("will we be ready", true)).toBe("Will we be ready?");
    expect(polish("Yes.", true)).toBe("Yes.");
    expect(polish("und dann", false)).toBe("Und dann.");
  });
});

describe("summary: unclear words", () => {
  const NOISE = "[no on a desktop il find the shit find it to support?]";

  it.each(TYPES)("%s: builds nothing on a sentence that is mostly unclear", (type) => {
    const lines = meetingFor(type).map(({ speaker, text }): [string, string] => [speaker, text]);
    const { text, items } = summariseText(type, saidBy(...lines, ["S9", NOISE]));
    const quotes = items.filter(({ text: quoted }) => !/ spoke \d+ % /.test(quoted));
    expect(quotes.length).toBeGreaterThan(0);
    expect(quotes.flatMap(({ segmentIds }) => segmentIds)).not.toContain(`segment-${lines.length}`);
    expect(text).not.toMatch(/desktop|shit|support/);
  });

  it("quotes a sentence with few unclear words, marked", () => {
    const said = saidBy(["Anna", "i will send the final report to [margaret?] by wednesday"]);
    expect(summariseText("action_items", said)).toMatchObject({
      text: "- Anna: I will send the final report to [Margaret?] by Wednesday. (by wednesday)",
      items: [{ owner: "Anna", due: "by wednesday" }],
    });
    expect(polish("we pay [ten dollars?]", true)).toBe("We pay [ten dollars?].");
  });

  it("takes no cue, owner or date from an unclear word", () => {
    const decided = saidBy(["Anna", "we [decided?] to start the project in the new building"]);
    expect(summariseText("decisions", decided).items).toEqual([]);
    const task = saidBy(["Anna", "i will write the long report for the people by [wednesday?]"]);
    const [item] = summariseText("action_items", task).items;
    expect(item).toMatchObject({ owner: "Anna" });
    expect(item?.due).toBeUndefined();
  });

  it("counts no topic that was not heard clearly", () => {
    const said = saidBy(["Anna", "the garden and the [harbour?] need a lot of money and of time"]);
    const { text } = summariseText("topics", said);
    expect(text).toContain("garden");
    expect(text).not.toContain("harbour");
  });

  it.each(TYPES)("%s: says so when most could not be understood", (type) => {
    const all = saidBy(["S1", NOISE], ["S2", NOISE]);
    const { text, items } = summariseText(type, all);
    expect(text).toMatch(/^Most of this recording could not be understood\./);
    expect(text).not.toMatch(/desktop|shit|support/);
    expect(items.every((item) => !item.text.includes("desktop"))).toBe(true);
    const some = saidBy(["S1", NOISE], ["S2", NOISE], ["S1", "we will meet in the new office"]);
    expect(summariseText("brief", some).text).toBe(
      "Most of this recording could not be understood.\nWe will meet in the new office.",
    );
  });
});
