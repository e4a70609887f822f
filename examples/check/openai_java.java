// OpenAI's SDK for Java as a driver of `mock-gateway check` (docs/driver-protocol.md), called as its README shows.
//
//   mvn dependency:copy-dependencies -DoutputDirectory=libs     (with com.openai:openai-java in pom.xml)
//   javac -cp 'libs/*' -d classes openai_java.java
//   mock-gateway check --driver --tools -- java -cp 'libs/*:classes' Driver

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.openai.client.OpenAIClient;
import com.openai.client.okhttp.OpenAIOkHttpClient;
import com.openai.core.JsonValue;
import com.openai.core.RequestOptions;
import com.openai.core.http.StreamResponse;
import com.openai.helpers.ChatCompletionAccumulator;
import com.openai.models.chat.completions.ChatCompletion;
import com.openai.models.chat.completions.ChatCompletionChunk;
import com.openai.models.chat.completions.ChatCompletionCreateParams;
import com.openai.models.chat.completions.ChatCompletionMessageFunctionToolCall;
import com.openai.models.completions.CompletionUsage;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

class Driver {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, OpenAIClient> clients = new HashMap<>(); // one client per address

    static OpenAIClient clientOf(JsonNode job) {
        return clients.computeIfAbsent(job.get("base_url").asText(), baseUrl ->
            OpenAIOkHttpClient.builder().baseUrl(baseUrl).apiKey(job.get("api_key").asText()).build());
    }

    static void takeUsage(CompletionUsage usage, ObjectNode seen) {
        seen.putObject("usage")
            .put("prompt_tokens", usage.promptTokens())
            .put("completion_tokens", usage.completionTokens())
            .put("total_tokens", usage.totalTokens());
    }

    /** Notes what the answer's first choice says beside its text, which is returned. */
    static String take(ChatCompletion completion, ObjectNode seen) {
        ChatCompletion.Choice choice = completion.choices().get(0);
        ArrayNode calls = seen.putArray("tool_calls");
        choice.message().toolCalls().ifPresent(all -> all.forEach(call -> {
            ChatCompletionMessageFunctionToolCall.Function made = call.asFunction().function();
            calls.add(JSON.createObjectNode().put("name", made.name()).put("arguments", made.arguments()));
        }));
        seen.put("finish_reason", choice.finishReason().asString());
        completion.usage().ifPresent(usage -> takeUsage(usage, seen));
        return choice.message().content().or(choice.message()::refusal).orElse("");
    }

    /** Notes in `seen` what the caller is given, as it is given it. */
    static void call(JsonNode job, ObjectNode seen) {
        ChatCompletionCreateParams.Builder builder = ChatCompletionCreateParams.builder()
            .model(job.get("model").asText())
            .addUserMessage(job.get("prompt").asText());
        if (job.has("tools")) builder.putAdditionalBodyProperty("tools", JsonValue.fromJsonNode(job.get("tools")));
        ChatCompletionCreateParams params = builder.build();
        RequestOptions.Builder options = RequestOptions.builder();
        if (job.has("after_ms")) options.timeout(Duration.ofMillis(job.get("after_ms").asLong()));
        boolean streams = job.has("stream") ? job.get("stream").asBoolean() : !job.get("job").asText().equals("ask");
        if (!streams) {
            seen.put("text", take(clientOf(job).chat().completions().create(params, options.build()), seen));
            return;
        }
        ChatCompletionAccumulator all = ChatCompletionAccumulator.create();
        int pieces = 0;
        try (StreamResponse<ChatCompletionChunk> stream =
                 clientOf(job).chat().completions().createStreaming(params, options.build())) {
            for (Iterator<ChatCompletionChunk> chunks = stream.stream().iterator(); chunks.hasNext(); ) {
                ChatCompletionChunk chunk = chunks.next();
                all.accumulate(chunk);
                for (ChatCompletionChunk.Choice choice : chunk.choices()) {
                    String content = choice.delta().content().or(choice.delta()::refusal).orElse("");
                    seen.put("text", seen.get("text").asText() + content);
                    if (!content.isEmpty()) ++pieces;
                    if (job.has("after_tokens") && pieces == job.get("after_tokens").asInt()) return; // which closes it
                }
            }
        }
        take(all.chatCompletion(), seen);
    }

    /** U+FFFD for half a character, as others write it: Java's encoder has a question mark, which looks like text. */
    static String wellFormed(String text) {
        StringBuilder out = new StringBuilder();
        text.codePoints().forEach(one -> out.appendCodePoint(one >= 0xD800 && one <= 0xDFFF ? 0xFFFD : one));
        return out.toString();
    }

    /** Makes a call of its own, which loads the SDK. That takes seconds, and an app that has run for a while is judged. */
    static void warmUp() throws IOException {
        byte[] answer = ("data: {\"id\":\"1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":"
            + "[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n").getBytes();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort();
        call(JSON.createObjectNode().put("job", "stream").put("base_url", url).put("api_key", "key").put("model", "m").put("prompt", "a"),
            JSON.createObjectNode().put("text", ""));
        clients.remove(url).close();
        server.stop(0);
    }

    static ObjectNode answer(JsonNode job) throws IOException {
        ObjectNode said = JSON.createObjectNode().put("id", job.get("id").asLong());
        switch (job.get("job").asText()) {
            case "hello":
                warmUp();
                return said.put("client", "openai-java").put("version", OpenAIClient.class.getPackage().getImplementationVersion());
            case "use_key":
                String key = job.get("api_key").asText();
                clients.put(job.get("base_url").asText(), clientOf(job).withOptions(options -> options.apiKey(key)));
                return said;
            case "ask": case "stream": case "cancel": case "abandon":
                said.put("text", "");
                try {
                    call(job, said);
                } catch (RuntimeException error) { // what the user would see
                    said.put("error", error.getClass().getSimpleName() + ": " + error.getMessage());
                }
                said.put("text", wellFormed(said.get("text").asText()));
                return said;
            default:
                return said.put("unknown", true);
        }
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader jobs = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream answers = new PrintStream(System.out, true, "UTF-8");
        for (String line; (line = jobs.readLine()) != null; ) answers.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }
}
