package example;

import java.util.List;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.RequestAttribute;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** A backend that logs people in by phone: the login contract at /login, and a page of their own at /me. */
@SpringBootApplication
@RestController
public class Application {
    public static void main(String[] words) {
        SpringApplication.run(Application.class, "--server.address=127.0.0.1", "--server.port=" + System.getenv("PORT"));
    }

    @Bean
    Dwar dwar(Environment env) {
        return new Dwar(env.getRequiredProperty("DWAR_URL"), env.getRequiredProperty("DWAR_API_KEY"),
                env.getRequiredProperty("DWAR_PROJECT_ID"), env.getProperty("DWAR_MODE", "live"),
                env.getRequiredProperty("DWAR_SECRET"));
    }

    @Bean
    LoginCookies loginCookies(Environment env) {
        return new LoginCookies(List.of(env.getRequiredProperty("ORIGIN")));
    }

    @Bean
    FilterRegistrationBean<PhoneLogin> pages(Dwar dwar, LoginCookies cookies) {
        return at("/me", new PhoneLogin(dwar, cookies, true));
    }

    @Bean
    FilterRegistrationBean<PhoneLogin> claimsAlone(Dwar dwar, LoginCookies cookies) {
        return at("/claims", new PhoneLogin(dwar, cookies, false));
    }

    private static FilterRegistrationBean<PhoneLogin> at(String path, PhoneLogin filter) {
        FilterRegistrationBean<PhoneLogin> registered = new FilterRegistrationBean<>(filter);
        registered.addUrlPatterns(path);
        registered.setName("phoneLogin" + path);
        return registered;
    }

    @RequestMapping({"/me", "/claims"})
    Map<String, String> me(@RequestAttribute("identity_id") String identity) {
        return Map.of("identity_id", identity);
    }
}
