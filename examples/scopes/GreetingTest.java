// A test of a client in Java 11, without a helper and a JSON library.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class GreetingTest {
  static String field(String json, String name) {
    Matcher found = Pattern.compile("\"" + name + "\": *\"?([^\",}]*)").matcher(json);
    if (!found.find()) throw new AssertionError(name + " is missing: " + json);
    return found.group(1);
  }

  static String call(String method, String url, String key, String body) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create(url))
        .method(method, HttpRequest.BodyPublishers.ofString(body))
        .header("Authorization", "Bearer " + key).header("Content-Type", "application/json").build();
    HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    if (answer.statusCode() >= 400) throw new AssertionError(method + " " + url + ": " + answer.body());
    return answer.body();
  }

  public static void main(String[] arguments) throws Exception {
    Process program = new ProcessBuilder("mock-gateway", "serve", "--port", "0", "--control", "0", "--print", "json",
        "--until-eof", "--quiet").redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String info = new BufferedReader(new InputStreamReader(program.getInputStream())).readLine();
    String control = field(info, "control_url") + "/control/v1";
    String token = field(info, "control_token");

    String scope = call("POST", control + "/scopes", token, "{\"name\": \"greeting\"}");
    String id = field(scope, "id");
    call("POST", control + "/stubs?scope=" + id, token,
        "{\"when\": {\"user_says\": \"Hi\"}, \"reply\": \"Hello.\", \"expect\": 1}");
    // The code under test gets base_url and api_key of the scope.
    String answer = call("POST", field(scope, "base_url") + "/chat/completions", field(scope, "api_key"),
        "{\"model\": \"mock-model\", \"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}");
    if (!answer.contains("Hello.")) throw new AssertionError(answer);
    String verdict = call("DELETE", control + "/scopes/" + id, token, "");
    if (!field(verdict, "ok").equals("true")) throw new AssertionError(verdict);

    program.getOutputStream().close();  // ends the program
    System.exit(program.waitFor());
  }
}
