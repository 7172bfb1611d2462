import { Search, Send } from "lucide-preact";
import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { callPatiently, messageOf } from "../../api/client.ts";
import type { Answer } from "../../api/records.ts";
import { Moments } from "./citations.tsx";
import type { SessionModel } from "./model/session-model.ts";
import { HeardText } from "./notes/note-sentences.tsx";

interface Asked {
  readonly n: number;
  readonly question: string;
  readonly answer?: Answer;
  readonly error?: string;
  /** Why it is asked again by itself in a moment. */
  readonly delay?: string;
}

/** Questions about the session; every answer names the moments that it stands on. */
export function AskPane({ model, onJump }: { model: SessionModel; onJump: () => void }): VNode {
  const [asked, setAsked] = useState<readonly Asked[]>([]);
  const [question, setQuestion] = useState("");
  const ask = (query: string) => {
    const n = asked.length;
    setQuestion("");
    setAsked((now) => [{ n, question: query }, ...now]);
    void answer(n, query);
  };
  const answer = async (n: number, query: string) => {
    const settle = (outcome: Omit<Asked, "n" | "question">) =>
      setAsked((now) =>
        now.map((each) => (each.n === n ? { n, question: query, ...outcome } : each)),
      );
    settle({});
    try {
      const params = { path: { session_id: model.id } };
      const found = await callPatiently(
        (api) => api.POST("/sessions/{session_id}/hirag-query", { params, body: { query } }),
        (error) => settle({ delay: messageOf(error) }),
      );
      settle({ answer: found });
    } catch (error) {
      settle({ error: messageOf(error) });
    }
  };
  return (
    <div class="stack">
      <form
        class="row ask"
        onSubmit={(event) => {
          event.preventDefault();
          if (question.trim() !== "") ask(question.trim());
        }}
      >
        <input
          class="input"
          aria-label="Ask about this session"
          placeholder="Ask about this session"
          value={question}
          maxLength={500}
          onInput={({ currentTarget }) => setQuestion(currentTarget.value)}
        />
        <button type="submit" class="button primary icon" aria-label="Ask">
          <Send size={16} aria-hidden="true" />
        </button>
      </form>
      {asked.length === 0 && (
        <p class="soft small">
          Answers are sentences that were said, with the moment of each: “When will we be ready?”,
          “What did we decide?”
        </p>
      )}
      <div aria-live="polite" class="stack">
        {asked.map((each) => (
          <AskedQuestion
            key={each.n}
            asked={each}
            model={model}
            onJump={onJump}
            onAgain={() => void answer(each.n, each.question)}
          />
        ))}
      </div>
    </div>
  );
}

interface AskedQuestionProps {
  asked: Asked;
  model: SessionModel;
  onJump: () => void;
  onAgain: () => void;
}

function AskedQuestion({ asked, model, onJump, onAgain }: AskedQuestionProps): VNode {
  const { question, answer, error, delay } = asked;
  return (
    <article class="asked">
      <h3 tabIndex={-1}>{question}</h3>
      {answer === undefined && error === undefined && (
        <p class="soft">{delay === undefined ? "Looking …" : `${delay} It is asked again …`}</p>
      )}
      {error !== undefined && (
        <div class="notice small row" data-tone="danger">
          <span>{error}</span>
          <button
            type="button"
            class="button push"
            onClick={({ currentTarget }) => {
              // The button goes with the failure.
              currentTarget.closest("article")?.querySelector("h3")?.focus();
              onAgain();
            }}
          >
            Ask again
          </button>
        </div>
      )}
      {answer && (
        <>
          <p class="answer">
            <HeardText text={answer.answer} />
          </p>
          {answer.citations.length === 0 && <SaidWords model={model} question={question} />}
          <Moments
            model={model}
            onJump={onJump}
            moments={answer.citations.map((cited) => ({
              start_ms: cited.start_ms,
              text: model.readableOf(cited.segment_id, cited.text),
              speaker: cited.speaker_label,
            }))}
          />
        </>
      )}
    </article>
  );
}

/** After a question without an answer: where its words were said all the same. */
function SaidWords({ model, question }: { model: SessionModel; question: string }): VNode | null {
  const words = model.search.saidOf(question);
  if (words.length === 0) return null;
  return (
    <div class="row small">
      <span class="soft">Said all the same:</span>
      {words.map((word) => (
        <button
          key={word}
          type="button"
          class="button"
          onClick={() => {
            model.search.open();
            model.search.search(word);
          }}
        >
          <Search size={14} aria-hidden="true" /> {word}
        </button>
      ))}
    </div>
  );
}
